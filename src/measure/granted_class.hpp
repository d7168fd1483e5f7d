// SPDX-License-Identifier: BSD-3-Clause
// What became of the class of service that a channel was opened with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "a2aperf/fabric/packet_watch.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// Opens the connections of a channel by what `connect` sends over it. Over RoCE they get the channel's class, where
// each rank can set it and all ask for the same. Collective.
void connect_as_asked(const Job& job, Channel& channel, const std::function<void()>& connect);

// What became of a class that was asked for; trouble: why it was not granted.
struct Grant {
    bool is_granted = false;
    std::string trouble;
};

// Whether connections were given it as they were opened, the provider says that it gives it, or it reads the
// variable that a service level was put into. Where messages go over TCP its sockets, connected by now, are marked,
// which no provider does, and it is granted where there are any and all have the marks. Nothing was asked for: it
// is not granted, without a trouble.
Grant grant_of(const Channel& channel, const TrafficClass& asked);

// Whether packets can show it: of messages over TCP, and of connections over RoCE that were given it; the class has
// a code point (DSCP).
bool shows_class(const Channel& channel, const TrafficClass& asked);

// From now on, of a rank's messages to this one.
std::unique_ptr<PacketWatch> watch_messages(const Channel& channel, Rank source);

// The class that packets of the messages that are watched had when they came: the one that was asked for, or the
// code points they had instead, as "dscp0". Empty where none were seen. Over RoCE while nothing else is under way.
std::string seen_class(const Channel& channel, const TrafficClass& asked, PacketWatch& watch);

} // namespace a2aperf
