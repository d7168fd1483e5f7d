// SPDX-License-Identifier: BSD-3-Clause
// Checksums of what a file holds, read back from it (docs/file-format.md says over what).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "h5.hpp"

namespace a2aperf {

// Of the points, each over its row, its samples and its counters.
class PointChecksums {
public:
    PointChecksums(const h5::File& file, int points);
    // h5::Unreadable where a part of the point cannot be read.
    std::int64_t of(int point) const;

private:
    using Named = std::pair<std::string, h5::Dataset>;
    struct OfSamples {
        std::string name;
        h5::Dataset dataset;
        std::string count; // the column that says how many of them a point has
    };
    std::vector<Named> columns_;                // [P]
    std::vector<OfSamples> samples_;            // [P, A, …], [P, T, …]
    std::vector<Named> counters_;               // [P, …]
    std::map<std::string, h5::Dataset> counts_; // by the column's name
};

// The attribute of a column of what was asked that has its checksum.
inline constexpr const char* kChecksumAttribute = "checksum";
// Of all values of a column.
std::int64_t checksum_of(const h5::Dataset& column);

// Of a group that a workload declares: over all its datasets but the checksum itself. uniform: bytes of each
// element of those that have the same everywhere, which are not read.
std::int64_t checksum_of(const h5::Group& group, const std::map<std::string, std::vector<char>>& uniform = {});
// Those, in the order in which it is over them.
std::vector<std::pair<std::string, h5::Dataset>> covered_in(const h5::Group& group);

} // namespace a2aperf
