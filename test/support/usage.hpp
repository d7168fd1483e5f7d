// SPDX-License-Identifier: BSD-3-Clause
// What a refusal says.
#pragma once

#include <string>

#include "a2aperf/base/error.hpp"

namespace a2aperf::test {

// The text of the UsageError that f throws; "(not refused)" when it throws none.
template <class F>
std::string refusal(F&& f) {
    try {
        f();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "(not refused)";
}

// One line, not empty, without a control character: what a person can read.
inline bool is_one_clear_line(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20) return false;
    return true;
}

} // namespace a2aperf::test
