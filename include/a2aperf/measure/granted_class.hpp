// SPDX-License-Identifier: BSD-3-Clause
// What became of the class of service that a channel was opened with.
#pragma once

#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// Whether the provider says that it gives it, or reads the variable that a service level was put into. Where
// messages go over TCP its sockets, connected by now, are marked, which no provider does, and it is granted where
// there are any and all have the marks.
bool grants_class(const Channel& channel, const TrafficClass& asked);

} // namespace a2aperf
