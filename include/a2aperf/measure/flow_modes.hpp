// SPDX-License-Identifier: BSD-3-Clause
// The transfer modes in which messages can move for a duration.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <tuple>

#include "a2aperf/measure/flow.hpp"
#include "a2aperf/transfer/asking.hpp"
#include "a2aperf/transfer/modes.hpp"

namespace a2aperf {

template <class... Modes>
struct FlowModes {
    static constexpr std::array kNames{Modes::kName...};

    // Of a point in one of them.
    template <template <class Mode> class EngineOf, class... Parts>
    static std::unique_ptr<Flow> make(std::string_view mode, Parts&&... parts) {
        std::unique_ptr<Flow> flow;
        const auto make_in = [&]<class Mode>(Mode) {
            if (mode == Mode::kName) flow = std::make_unique<FlowOf<EngineOf<Mode>>>(parts...);
        };
        (make_in(Modes{}), ...);
        return flow;
    }
};

template <class Tuple>
struct FlowModesOf;
template <class... Modes>
struct FlowModesOf<std::tuple<Modes...>> {
    using All = FlowModes<Modes...>;
};

using StreamModes = FlowModesOf<Modes>::All;
using AskingModes =
    FlowModes<Asking<Tagged>, Asking<Msg>, Asking<WriteImm>, Asking<Write>>; // but read: it sends nothing
using EchoModes = FlowModesOf<Modes>::All;
using PostedModes = FlowModes<Tagged, Msg>; // whose messages take posted receives

} // namespace a2aperf
