// SPDX-License-Identifier: BSD-3-Clause
// The transfer modes there are. A new one is a header beside these and an entry here.
#pragma once

#include <string_view>
#include <tuple>

#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/read.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "a2aperf/transfer/write.hpp"
#include "a2aperf/transfer/write_imm.hpp"

namespace a2aperf {

using Modes = std::tuple<Tagged, Msg, WriteImm, Read, Write>;

// Calls visit(Mode{}) for each mode in turn.
template <class Visitor>
void for_each_mode(Visitor&& visit) {
    std::apply([&](TransferMode auto... mode) { (visit(mode), ...); }, Modes{});
}

} // namespace a2aperf
