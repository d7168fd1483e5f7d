// SPDX-License-Identifier: BSD-3-Clause
// Every rate of metrics.md from one time.
#pragma once

#include "a2aperf/plan/layout.hpp"

namespace a2aperf {

// Gbit/s (1e9 bit), one direction unless the name says otherwise; NaN where the figure does not exist (net
// figures with one node).
struct Bandwidths {
    double rank, compat, node_net_min, node_net, node_net_max, node_total, node_compat, duplex, aggregate,
        bisection;
    double msg_rate; // messages per second
};

// time_ns: the op time T, > 0. node_net is the mean over nodes, node_total and node_compat use the mean k.
Bandwidths bandwidths(const Layout& layout, Bytes message_size, double time_ns);

} // namespace a2aperf
