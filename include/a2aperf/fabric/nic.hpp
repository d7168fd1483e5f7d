// SPDX-License-Identifier: BSD-3-Clause
// The adapter behind a domain: what sysfs says of it, and which one a rank takes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

// Empty or negative = unknown.
struct NicFacts {
    std::string name; // mlx5_0, hfi1_0, eth0
    std::string port; // of it, that the offer uses
    bool is_rdma = false;
    std::string driver, firmware, pcie_width, pcie_speed, max_read_request, mtu;
    int numa_node = -1;
    double link_rate_gbps = -1; // of one port
};

// The device that an offer uses; an empty name where there is none (shm).
NicFacts nic_of(const Offer& offer);

// Counters of the device: paths under /sys that hold a number, by a short name
// ("hfi1_0/1/counters/port_xmit_wait").
std::vector<std::pair<std::string, std::string>> port_counter_paths(const NicFacts& nic);

struct NicWish {
    // "nearest", "all", a name, one with a port ("mlx5_0/2"), several of them ("mlx5_0,mlx5_1"), or
    // "0:mlx5_0,1:mlx5_1" by local rank
    std::string text;
    int local_rank = 0;
    bool spans_hosts = false; // then loopback is no choice, and on one host it is the first
    Locality here{};
};

struct NicChoice {
    std::size_t index = 0;       // into the offers
    std::optional<int> distance; // NUMA, 10 = local
    std::string warning;         // why_far(); empty = near
};

// From where a rank may run to an adapter's NUMA node, as numa_distance() tells it.
using DistanceTo = std::function<std::optional<int>(const std::vector<int>& from, int to)>;

// Of a rank that is not near an adapter at this NUMA node, why that is so; empty where it is, or nobody knows.
std::string why_far(int numa_node, const std::string& name, const Locality& here,
                    const DistanceTo& distance = numa_distance);

// Of several, by NUMA node and name, each once.
std::string why_far(std::span<const std::pair<int, std::string>> adapters, const Locality& here,
                    const DistanceTo& distance = numa_distance);

// Of a text that names one. Throws UsageError that names the adapters there are, and says where one is down.
NicChoice choose_nic(const std::vector<Offer>& offers, const NicWish& wish);

// Whether the text is "all" or a list: ranks and endpoints are dealt over what it names.
bool names_several_nics(std::string_view text);

// Those that ranks and endpoints are dealt over: of a list in its order; of "all" by name, each adapter and port
// that has an address of the best kind (loopback on one host alone); else the one. Throws UsageError as above.
std::vector<NicChoice> choose_nics(const std::vector<Offer>& offers, const NicWish& wish);

} // namespace a2aperf
