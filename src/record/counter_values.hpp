// SPDX-License-Identifier: BSD-3-Clause
// /counters/values_of_ranks and values_of_nodes: what every counter had come to before and after a point's timed
// ops. A dataset each for all of them, since one for each takes 3.5 kB, whatever is in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/result/point_result.hpp"
#include "extents.hpp"
#include "h5.hpp"

namespace a2aperf {

class CounterValues {
public:
    struct Scales {
        const h5::Dataset &point, &rank, &node;
    };
    static CounterValues create(const h5::Group& counters, const Scales& scales, const Extents& extents,
                                h5::Storage storage);
    static CounterValues open(const h5::Group& counters); // of an older program: without datasets
    static bool knows(const std::string& dataset);        // in /counters
    void require_shapes(const Extents& extents) const;    // h5::Unreadable where one is another

    // ports of each node are parallel to names, those of the file to order. What is not there is -1.
    void write(int point, const PhaseCounts& before, const PhaseCounts& after,
               const std::vector<std::string>& names, const std::vector<std::string>& order) const;
    // With so many ports of each node. Empty in files of older programs.
    PhaseCounts read_before(int point, std::size_t ports) const;
    PhaseCounts read_after(int point, std::size_t ports) const;

    static std::uint64_t bytes(const Extents& extents);

private:
    // Its columns have the names that its attribute `counters` lists: "before_minor_faults".
    struct Table {
        h5::Dataset dataset; // [P, R or N, columns]
        std::vector<std::string> columns;
    };
    PhaseCounts read(std::string_view moment, int point, std::size_t ports) const;

    Table of_ranks_, of_nodes_; // of nodes each port has a column, before_port and after_port
};

} // namespace a2aperf
