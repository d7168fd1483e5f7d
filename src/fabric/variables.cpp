// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/variables.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <rdma/fabric.h>

#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {
namespace {

std::string in_one_line(const char* text) {
    std::string line;
    for (const char c : std::string_view(text != nullptr ? text : "")) {
        const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!is_space)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

} // namespace

std::vector<Variable> library_variables() {
    (void)query_all(); // providers tell their variables when they are loaded
    fi_param* found = nullptr;
    int count = 0;
    std::vector<Variable> variables;
    if (fi_getparams(&found, &count) != 0) return variables;
    for (int i = 0; i < count; ++i)
        variables.push_back(
            {found[i].name, found[i].value != nullptr ? found[i].value : "", in_one_line(found[i].help_string)});
    fi_freeparams(found);
    std::sort(variables.begin(), variables.end(),
              [](const Variable& a, const Variable& b) { return a.name < b.name; });
    // Some are defined by more than one part of the library.
    const auto twice = std::unique(variables.begin(), variables.end(),
                                   [](const Variable& a, const Variable& b) { return a.name == b.name; });
    variables.erase(twice, variables.end());
    return variables;
}

} // namespace a2aperf
