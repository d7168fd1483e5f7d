// SPDX-License-Identifier: BSD-3-Clause
// The transfer modes in which messages can move for a duration.
#pragma once

#include <array>
#include <memory>

#include "a2aperf/measure/flow.hpp"
#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/tagged.hpp"

namespace a2aperf {

inline constexpr std::array kFlowModes{Tagged::kName, Msg::kName};

// Of a point in one of them.
template <template <class Mode> class EngineOf, class... Parts>
std::unique_ptr<Flow> make_flow(std::string_view mode, Parts&&... parts) {
    if (mode == Msg::kName) return std::make_unique<FlowOf<EngineOf<Msg>>>(std::forward<Parts>(parts)...);
    return std::make_unique<FlowOf<EngineOf<Tagged>>>(std::forward<Parts>(parts)...);
}

} // namespace a2aperf
