// SPDX-License-Identifier: BSD-3-Clause
// What became of the class of service that a channel was opened with.
#pragma once

#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// Whether the provider took it. Its sockets, connected by now, are marked where messages go over TCP: no provider
// does that.
bool grants_class(const Channel& channel, const TrafficClass& asked);

} // namespace a2aperf
