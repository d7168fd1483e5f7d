// SPDX-License-Identifier: BSD-3-Clause
// The transfer modes there are. A new one is a header beside these and an entry here.
#pragma once

#include <string_view>
#include <tuple>

#include "a2aperf/base/error.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "a2aperf/transfer/write_imm.hpp"

namespace a2aperf {

using Modes = std::tuple<Tagged, WriteImm>;

// Calls visit(Mode{}) for each mode in turn.
template <class Visitor>
void for_each_mode(Visitor&& visit) {
    std::apply([&](auto... mode) { (visit(mode), ...); }, Modes{});
}

} // namespace a2aperf
