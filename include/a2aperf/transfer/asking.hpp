// SPDX-License-Identifier: BSD-3-Clause
// A mode whose sends say by flags of their own whether they complete, and what that means.
#pragma once

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

template <SendsMessages Mode>
struct Asking : Mode {
    static constexpr bool kAsks = true;
};

template <class Mode>
concept AsksForCompletions = requires {
    Mode::kAsks;
};

} // namespace a2aperf
