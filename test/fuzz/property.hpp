// SPDX-License-Identifier: BSD-3-Clause
// What a target says about its input: a property that does not hold ends the process, and libFuzzer keeps the
// input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "a2aperf/base/terminal.hpp"
#include "support/usage.hpp"

namespace a2aperf::fuzz {

inline void require(bool holds, std::string_view property, std::string_view found = {}) {
    if (holds) return;
    std::fprintf(stderr, "property broken: %.*s: %.*s\n", static_cast<int>(property.size()), property.data(),
                 static_cast<int>(found.size()), found.data());
    std::abort();
}

// Whether f returned. The one thing that it may throw is a UsageError, which is told as one clear line, whatever
// names the input has; any other exception ends the process.
template <class F>
bool is_accepted(F&& f) {
    try {
        f();
        return true;
    } catch (const UsageError& error) {
        const std::string told = visible(error.what());
        require(test::is_one_clear_line(told), "a refusal is one clear line", told);
        return false;
    }
}

} // namespace a2aperf::fuzz
