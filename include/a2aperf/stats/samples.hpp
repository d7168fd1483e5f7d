// SPDX-License-Identifier: BSD-3-Clause
// The raw samples of one point and the op times that follow from them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// The send_done of a rank whose messages were fetched: nothing told it. As the smallest number there is, it never
// is the later of two moments.
inline constexpr Nanoseconds kNoMoment = std::numeric_limits<Nanoseconds>::min();

enum class CompleteAt { receiver, sender };

std::string_view to_string(CompleteAt rule);

// All attempts of one point, gathered from all ranks. Moments are [attempts * ranks], attempt-major, as
// offsets in ns from the op's start (file-format.md, /raw).
struct Samples {
    int ranks = 0;
    std::vector<Nanoseconds> begin;
    std::vector<Nanoseconds> send_done; // kNoMoment where the receivers start the transfers
    std::vector<Nanoseconds> recv_done;
    std::vector<Nanoseconds> start;  // [attempts], ns from the launch's time origin
    std::vector<std::int64_t> valid; // [attempts], 1 or 0
    // Traced only: [attempts * ranks * ranks] when each message arrived: attempt, destination, source; -1 = none.
    std::vector<Nanoseconds> arrival{};
    // [attempts * ranks], attempt-major: when each rank left the barrier, on the common clock, ns from `start`; 0
    // with a clock start. Empty = not kept: moments of two ranks with a barrier start are then not to be compared.
    std::vector<Nanoseconds> exit{};
    // Ticks of the duration that are kept, of the rank with the most of them.
    int ticks = 0;
    // Buckets of the histogram of the rank with the most of them.
    int buckets = 0;
    // What the workload alone has, by their columns' names: [attempts * ranks], attempt-major, or [ticks * ranks]
    // and [buckets * ranks], in the same way; kNoMoment where a rank has none.
    std::map<std::string_view, std::vector<Nanoseconds>> own{};
    // Of a point of a duration that was just measured: ranks with the same number share one clock, [R], and how far
    // any rank's moments may be off the clock of those with 0. Not of the samples of a file.
    std::vector<int> clock_of_rank{};
    double clock_error_ns = 0;

    int attempts() const { return static_cast<int>(start.size()); }
    int valid_ops() const;
    // ns from `start` on the common clock to the rank's zero of this attempt.
    Nanoseconds zero_of(int attempt, Rank rank) const;
    // e(i,r): max(send_done, recv_done), or send_done with CompleteAt::sender, which needs one
    Nanoseconds end_of(int attempt, Rank rank, CompleteAt rule) const;
};

// T_i of the valid ops in time order: max over ranks of the end.
std::vector<Nanoseconds> op_times(const Samples& samples, CompleteAt rule);

// The same apart for every block_size attempts, whichever of them are valid; a rest of less is left out.
std::vector<std::vector<Nanoseconds>> op_times_in_blocks(const Samples& samples, CompleteAt rule, int block_size);

} // namespace a2aperf
