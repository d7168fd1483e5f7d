// SPDX-License-Identifier: BSD-3-Clause
// /counters: what the operating system saw of every rank and node during the timed ops of a point, during the
// verification before them, and what it had counted before and after these ops.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/result/point_result.hpp"
#include "counter_values.hpp"
#include "extents.hpp"
#include "h5.hpp"

namespace a2aperf {

// Of the start of a launch, into its segment.
void write_counts(const h5::Group& group, const PhaseCounts& counts, const std::vector<std::string>& port_names);

class CounterGroup {
public:
    static CounterGroup create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                               h5::Storage storage);
    static bool knows(const std::string& dataset); // in /counters
    static CounterGroup open(const h5::File& file);
    void require_shapes(const Extents& extents) const; // h5::Unreadable where one is another

    const std::vector<std::string>& port_names() const { return port_names_; }

    // ports of each node are parallel to names, which may be any of the file's in any order; what is not named
    // is -1. An empty span of ranks or nodes is written as unknown (-1).
    void write(int point, std::span<const RankCounters> ranks, std::span<const NodeCounters> nodes,
               const std::vector<std::string>& names) const;
    void write_verification(int point, const PhaseCounts& counts, const std::vector<std::string>& names) const;
    void write_values(int point, const PhaseCounts& before, const PhaseCounts& after,
                      const std::vector<std::string>& names) const;
    std::vector<RankCounters> read_ranks(int point) const;
    std::vector<NodeCounters> read_nodes(int point) const; // ports parallel to port_names()
    // Empty in files of older programs.
    PhaseCounts read_verification(int point) const;
    PhaseCounts read_before(int point) const;
    PhaseCounts read_after(int point) const; // without levels, which the timed ops have

    static std::uint64_t bytes(const Extents& extents);

private:
    struct OfPhase {
        // [P, R] each, with its place in the table: older files lack some.
        std::vector<std::pair<std::size_t, h5::Dataset>> numbers;
        std::vector<h5::Dataset> of_nodes; // [P, N] each; older files lack the last ones
        h5::Dataset port;                  // [P, N, C]
    };
    void write_ranks(const OfPhase& phase, int point, std::span<const RankCounters> ranks) const;
    void write_nodes(const OfPhase& phase, int point, std::span<const NodeCounters> nodes,
                     const std::vector<std::string>& names) const;
    std::vector<RankCounters> read_ranks(const OfPhase& phase, int point) const;
    std::vector<NodeCounters> read_nodes(const OfPhase& phase, int point) const;

    OfPhase timed_;
    OfPhase verification_;        // without datasets in files of older programs
    CounterValues values_;        // the same
    h5::Dataset thread_affinity_; // [P, R]
    std::vector<std::string> port_names_;
};

} // namespace a2aperf
