// SPDX-License-Identifier: BSD-3-Clause
// Every rate of metrics.md from one time.
#pragma once

#include <limits>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic.hpp"

namespace a2aperf {

// A figure that does not exist; absent, not invented.
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// Gbit/s (1e9 bit), one direction unless the name says otherwise; NaN where the figure does not exist (net
// figures with one node).
struct Bandwidths {
    double rank = kAbsent, compat = kAbsent;
    double node_net_min = kAbsent, node_net = kAbsent, node_net_max = kAbsent;
    double node_total = kAbsent, node_compat = kAbsent, duplex = kAbsent;
    double aggregate = kAbsent, bisection = kAbsent;
    double msg_rate = kAbsent; // messages per second
};

// time_ns: the op time T; all figures are absent where it is not above 0. node_net is the mean over nodes,
// node_total and node_compat use the mean k.
Bandwidths bandwidths(const Layout& layout, Bytes message_size, double time_ns);

// Of traffic that is not uniform: of a rank the mean, of the halves of the node list the larger way. Nothing is
// compared with 2019, and nothing has a message to itself.
Bandwidths bandwidths(const Layout& layout, const TrafficLoads& loads, double time_ns);

} // namespace a2aperf
