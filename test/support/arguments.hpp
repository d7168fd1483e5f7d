// SPDX-License-Identifier: BSD-3-Clause
// The command line without a process.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/config/command_line.hpp"
#include "support/catalogue.hpp"

namespace a2aperf::test {

// As if typed after "a2aperf".
inline ParsedCommandLine parse(const std::vector<std::string>& words) {
    std::vector<const char*> argv{"a2aperf"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), catalogue());
}

// As if typed after "a2aperf" and the workload's name.
inline Options parse_options(const std::string& workload, std::vector<std::string> words) {
    words.insert(words.begin(), workload);
    return parse(words).options;
}

inline Options parse_alltoall(const std::vector<std::string>& words) {
    return parse_options("alltoall", words);
}

} // namespace a2aperf::test
