// SPDX-License-Identifier: BSD-3-Clause
// The part of an exchange whose completions another reads, from a queue that several of them have.
#pragma once

#include <cstddef>
#include <utility>

#include "a2aperf/measure/exchange.hpp"

namespace a2aperf {

template <TransferMode Mode>
bool Exchange<Mode>::try_receives() {
    if constexpr (!kSends || kFlags)
        return true; // nothing is posted before the op
    else
        return post_receives();
}

template <TransferMode Mode>
bool Exchange<Mode>::take() {
    const std::size_t count = std::exchange(put_, 0);
    bool is_new = count != 0;
    if constexpr (kFlags) is_new = take_flags() || is_new;
    if (count != 0) account(static_cast<ssize_t>(count));
    return is_new;
}

} // namespace a2aperf
