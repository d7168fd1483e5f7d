// SPDX-License-Identifier: BSD-3-Clause
// /raw: every sample of every attempt, in the columns that the workload declares.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "a2aperf/record/sample_column.hpp"
#include "extents.hpp"
#include "h5.hpp"

namespace a2aperf {

// How many there are of what a column may run along.
struct Lengths {
    std::uint64_t points, attempts, ticks, ranks, buckets;
};

// Of a column in which each of them has its place.
h5::Shape shape_of(Per per, const Lengths& lengths);

// What was made of one point.
struct Made {
    std::int64_t attempts = 0, ticks = 0, buckets = 0;
};

class RawGroup {
public:
    static RawGroup create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                           h5::Storage storage);
    // Those of the declared columns that the file has; h5::Unreadable where it lacks one that it must have.
    static RawGroup open(const h5::File& file, std::span<const SampleColumn> declared);
    void require_shapes(const Extents& extents) const; // h5::Unreadable where one is another

    const std::vector<SampleColumn>& columns() const { return columns_; }
    Lengths lengths() const; // h5::Unreadable where they cannot be told
    // Whether so much can be there: neither more than there is room for, nor than its bytes can hold, unpacked.
    bool can_hold(const Made& made) const;
    void write(int point, const Samples& samples) const;
    Samples read(int point, const Made& made) const;

    static std::uint64_t bytes(const Extents& extents); // when every attempt is made, every tick and every bucket

private:
    bool has_room(Per per, std::uint64_t count) const;

    std::vector<SampleColumn> columns_;
    std::vector<h5::Dataset> datasets_; // parallel to them
};

} // namespace a2aperf
