// SPDX-License-Identifier: BSD-3-Clause
// The adapters that a launch uses, node by node.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/job/job.hpp"

namespace a2aperf {

// Those of these offers, each adapter and port once; without a name where messages need none.
std::vector<NicFacts> adapters_of(std::span<const Offer> offers);

// "mlx5_0", "mlx5_1/2": with its port where an adapter is there with several.
std::vector<std::string> names_of(std::span<const NicFacts> adapters);

// Of each rank [R] the names of its adapters with a comma, with the port where ranks of its node use several of
// one; on rank 0. Collective.
std::vector<std::string> names_by_rank(const Job& job, std::span<const NicFacts> mine);

// Of every node [N] each adapter that a rank there has taken, once, in the order of ranks; none where messages need
// none (shm). Of an adapter: name, port, kind, driver and link rate. mine: of this rank's channels. Collective.
std::vector<std::vector<NicFacts>> adapters_in_use(const Job& job, std::span<const NicFacts> mine);

// What the links of a node carry, for the node with the least: all wait for it.
struct NodeLink {
    int rails = -1;  // adapters in use there; -1 = none, or a rate is unknown on some node and the counts differ
    double gbps = 0; // of all of them, one direction; 0 = a rate is unknown on some node
    int of_rank = 1; // rails: that a rank uses, of the one with the most
    int node = 0;    // which one that is; of equals the first
    bool is_even = true;                                                     // whether all there have one rate
    bool is_mean() const { return gbps > 0 && !is_even && of_rank < rails; } // what rank_gbps() is of
    double rail_gbps() const { return rails > 0 ? gbps / rails : 0; }
    double rank_gbps() const { return of_rank * rail_gbps(); }
};

// stated: what each of them carries, Gbit/s, whatever the system tells.
NodeLink node_link(const std::vector<std::vector<NicFacts>>& adapters, std::optional<double> stated = std::nullopt);

// Behind words on the adapters of node 0: whose rates differ, where the bound takes the mean of them. hosts: of
// each node [N].
std::string mean_words(const NodeLink& link, std::span<const std::string> hosts);

// "of node017 no adapter is known": empty where each node has one.
std::string unknown_words(const std::vector<std::vector<NicFacts>>& adapters, std::span<const std::string> hosts,
                          const std::string& provider);

} // namespace a2aperf
