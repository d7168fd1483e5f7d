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

// Of a column in which each of so many points, attempts and ranks has its place.
h5::Shape shape_of(Per per, std::uint64_t points, std::uint64_t attempts, std::uint64_t ranks);

class RawGroup {
public:
    static RawGroup create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                           h5::Storage storage);
    // Those of the declared columns that the file has; h5::Unreadable where it lacks one that it must have.
    static RawGroup open(const h5::File& file, std::span<const SampleColumn> declared);
    void require_shapes(const Extents& extents) const; // h5::Unreadable where one is another

    const std::vector<SampleColumn>& columns() const { return columns_; }
    h5::Shape shape() const;            // of a column that each rank has: points, attempts, ranks
    std::uint64_t stored_bytes() const; // of that which takes least, of those that each rank must have
    void write(int point, const Samples& samples) const;
    Samples read(int point, int attempts) const;

    static std::uint64_t bytes(const Extents& extents); // when every attempt is made

private:
    std::vector<SampleColumn> columns_;
    std::vector<h5::Dataset> datasets_; // parallel to them
};

} // namespace a2aperf
