// SPDX-License-Identifier: BSD-3-Clause
// /pairs: the matrix of all ordered pairs of ranks, and the pairs that were looked at again.
#pragma once

#include <span>
#include <vector>

#include "a2aperf/stats/pair_times.hpp"
#include "extents.hpp"
#include "h5.hpp"

namespace a2aperf {

class PairGroup {
public:
    static PairGroup create(const h5::File& file, const Extents& extents, h5::Storage storage);
    static PairGroup open(const h5::File& file);

    void require_shapes(const Extents& extents) const; // h5::Unreadable where one is another

    // Fills in what belongs to the matrix's dimensions.
    void describe(Extents& extents) const;

    // The cells of one step; the number of ops last.
    void write(Bytes message_size, std::span<const PairTime> pairs) const;
    std::vector<PairTime> read(Bytes message_size, int distance) const;

    void clear_isolated() const;
    void write_isolated(int place, const IsolatedPair& pair) const;

    // Everything, into a group that has room for it.
    void copy_to(const PairGroup& to) const;

    static std::uint64_t bytes(const Extents& extents);

private:
    struct Cells;
    std::uint64_t index_of(Bytes message_size) const; // in sizes_
    Cells cells(Bytes message_size, std::span<const PairTime> pairs) const;

    std::vector<std::int64_t> sizes_;              // [M]
    h5::Dataset time_p50_, time_min_, gbps_, ops_; // [M, R, R]
    h5::Dataset source_, destination_, size_;      // [K]
    h5::Dataset isolated_time_;                    // [K, A2]
    h5::Dataset isolated_gbps_;                    // [K]
};

} // namespace a2aperf
