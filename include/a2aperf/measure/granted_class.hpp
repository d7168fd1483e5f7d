// SPDX-License-Identifier: BSD-3-Clause
// What became of the class of service that a channel was opened with.
#pragma once

#include <string>

#include "a2aperf/fabric/packet_watch.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// Whether the provider says that it gives it, or reads the variable that a service level was put into. Where
// messages go over TCP its sockets, connected by now, are marked, which no provider does, and it is granted where
// there are any and all have the marks.
bool grants_class(const Channel& channel, const TrafficClass& asked);

// Whether packets can show it: of messages over TCP, whose class has a code point (DSCP).
bool shows_class(const Channel& channel, const TrafficClass& asked);

// The class that packets of a rank's messages to this one had when they came: the one that was asked for, or the
// code points they had instead, as "dscp0". Empty where none were seen.
std::string seen_class(const Channel& channel, const TrafficClass& asked, Rank source, PacketWatch& watch);

} // namespace a2aperf
