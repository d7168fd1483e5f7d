// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

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

std::vector<Variable> told_so_far() {
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

// Providers that read variables, too, of which they do not tell libfabric.
constexpr std::array kReadMore{"FI_OPX_", "FI_EFA_", "FI_CXI_"};

// FI_TCP_ of FI_TCP_NODELAY, FI_OFI_RXM_ of FI_OFI_RXM_TX_SIZE; empty of a name that has no more words.
std::string_view beginning_of(std::string_view name) {
    const std::string_view layered = "FI_OFI_";
    const auto end = name.find('_', name.starts_with(layered) ? layered.size() : std::string_view("FI_").size());
    return end == std::string_view::npos ? std::string_view() : name.substr(0, end + 1);
}

} // namespace

std::vector<Variable> library_variables() {
    (void)query_all(); // providers tell their variables when they are loaded
    return told_so_far();
}

std::vector<std::string> variables_told() {
    std::vector<std::string> names;
    for (Variable& one : told_so_far()) names.push_back(std::move(one.name));
    return names;
}

std::vector<std::string> ignored_variables(const std::vector<std::string>& names,
                                           const std::vector<std::string>& told) {
    std::vector<std::string> ignored;
    for (const std::string& name : names) {
        const std::string_view beginning = beginning_of(name);
        if (!name.starts_with("FI_") || beginning.empty()) continue;
        if (std::find(kReadMore.begin(), kReadMore.end(), beginning) != kReadMore.end()) continue;
        const bool is_told = std::find(told.begin(), told.end(), name) != told.end();
        const bool has_alike = std::any_of(told.begin(), told.end(),
                                           [&](const std::string& other) { return other.starts_with(beginning); });
        if (!is_told && has_alike) ignored.push_back(name);
    }
    return ignored;
}

} // namespace a2aperf
