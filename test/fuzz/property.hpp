// SPDX-License-Identifier: BSD-3-Clause
// What a target says about its input: a property that does not hold ends the process, and libFuzzer keeps the
// input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/usage.hpp"

namespace a2aperf::fuzz {

inline void require(bool holds, std::string_view property, std::string_view found = {}) {
    if (holds) return;
    std::fprintf(stderr, "property broken: %.*s: %.*s\n", static_cast<int>(property.size()), property.data(),
                 static_cast<int>(found.size()), found.data());
    std::abort();
}

// Whether f returned. The one thing that it may throw is a UsageError of one clear line; any other exception ends
// the process.
template <class F>
bool is_accepted(F&& f) {
    try {
        f();
        return true;
    } catch (const UsageError& error) {
        require(test::is_one_clear_line(error.what()), "a refusal is one clear line", error.what());
        return false;
    }
}

} // namespace a2aperf::fuzz
