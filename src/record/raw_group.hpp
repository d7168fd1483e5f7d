// SPDX-License-Identifier: BSD-3-Clause
// /raw: every moment of every attempt of every rank.
#pragma once

#include <array>
#include <optional>

#include "a2aperf/stats/samples.hpp"
#include "extents.hpp"
#include "h5.hpp"

namespace a2aperf {

class RawGroup {
public:
    static RawGroup create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                           h5::Storage storage);
    static RawGroup open(const h5::File& file);
    void require_shapes(const Extents& extents) const; // h5::Unreadable where one is another

    int max_attempts() const;
    std::uint64_t stored_bytes() const; // of one moment
    bool has_exits() const { return exit_.has_value(); }
    bool is_traced() const { return arrival_.has_value(); }
    void write(int point, const Samples& samples) const;
    Samples read(int point, int attempts) const;

    static std::uint64_t bytes(const Extents& extents); // when every attempt is made

private:
    std::array<h5::Dataset, 3> moments_; // begin, send_done, recv_done: [P, A, R]
    h5::Dataset start_;                  // [P, A]
    h5::Dataset valid_;                  // [P, A]
    std::optional<h5::Dataset> exit_;    // [P, A, R], in all files but old ones
    std::optional<h5::Dataset> arrival_; // [P, A, R, R], where it is kept
};

} // namespace a2aperf
