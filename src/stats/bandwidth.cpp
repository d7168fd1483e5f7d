// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/bandwidth.hpp"

#include <algorithm>

namespace a2aperf {

Bandwidths bandwidths(const Layout& layout, Bytes message_size, double time_ns) {
    Bandwidths gbps;
    if (!(time_ns > 0)) return gbps;
    const double ranks = layout.ranks();
    const double bits_per_ns =
        8 * static_cast<double>(message_size) / time_ns; // of one message; 1 bit/ns = 1 Gbit/s

    gbps.rank = (ranks - 1) * bits_per_ns;
    gbps.compat = ranks * bits_per_ns;
    gbps.node_total = layout.ranks_per_node() * gbps.rank;
    gbps.node_compat = layout.ranks_per_node() * gbps.compat;
    gbps.aggregate = ranks * gbps.rank;
    const int half = layout.ranks() / 2;
    gbps.bisection = bits_per_ns * half * (layout.ranks() - half);
    gbps.msg_rate = ranks * (ranks - 1) / time_ns * 1e9;
    if (layout.nodes() == 1) return gbps; // nothing crosses the network

    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const int k : layout.ranks_on_node()) {
        const double net = bits_per_ns * k * (ranks - k);
        sum += net;
        least = std::min(least, net);
        most = std::max(most, net);
    }
    gbps.node_net_min = least;
    gbps.node_net = sum / layout.nodes();
    gbps.node_net_max = most;
    gbps.duplex = 2 * gbps.node_net;
    return gbps;
}

Bandwidths bandwidths(const Layout& layout, const TrafficLoads& loads, double time_ns) {
    Bandwidths gbps;
    if (!(time_ns > 0)) return gbps;
    const auto rate = [&](double bytes) { return 8 * bytes / time_ns; };
    gbps.aggregate = rate(loads.bytes);
    gbps.rank = gbps.aggregate / layout.ranks();
    gbps.node_total = layout.ranks_per_node() * gbps.rank;
    gbps.msg_rate = loads.messages / time_ns * 1e9;
    if (layout.nodes() == 1) return gbps;
    gbps.bisection = rate(loads.halves);
    gbps.node_net_min = rate(loads.node_least);
    gbps.node_net = rate(loads.across) / layout.nodes();
    gbps.node_net_max = rate(loads.node_most);
    gbps.duplex = 2 * gbps.node_net;
    return gbps;
}

} // namespace a2aperf
