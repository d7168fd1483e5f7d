// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/samples.hpp"

#include <algorithm>

namespace a2aperf {

std::string_view to_string(CompleteAt rule) {
    return rule == CompleteAt::receiver ? "receiver" : "sender";
}

int Samples::valid_ops() const {
    return static_cast<int>(std::count_if(valid.begin(), valid.end(), [](std::int64_t v) { return v != 0; }));
}

Nanoseconds Samples::zero_of(int attempt, Rank rank) const {
    if (exit.empty()) return 0;
    return exit[static_cast<std::size_t>(attempt) * static_cast<std::size_t>(ranks) +
                static_cast<std::size_t>(rank)];
}

Nanoseconds Samples::end_of(int attempt, Rank rank, CompleteAt rule) const {
    const std::size_t at =
        static_cast<std::size_t>(attempt) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank);
    return rule == CompleteAt::sender ? send_done[at] : std::max(send_done[at], recv_done[at]);
}

namespace {

// Of the valid ones among the attempts [first, end).
std::vector<Nanoseconds> op_times_of(const Samples& samples, CompleteAt rule, int first, int end) {
    std::vector<Nanoseconds> times;
    for (int attempt = first; attempt < end; ++attempt) {
        if (samples.valid[static_cast<std::size_t>(attempt)] == 0) continue;
        Nanoseconds last = samples.end_of(attempt, 0, rule);
        for (Rank rank = 1; rank < samples.ranks; ++rank)
            last = std::max(last, samples.end_of(attempt, rank, rule));
        times.push_back(last);
    }
    return times;
}

} // namespace

std::vector<Nanoseconds> op_times(const Samples& samples, CompleteAt rule) {
    return op_times_of(samples, rule, 0, samples.attempts());
}

std::vector<std::vector<Nanoseconds>> op_times_in_blocks(const Samples& samples, CompleteAt rule, int block_size) {
    std::vector<std::vector<Nanoseconds>> blocks;
    for (int first = 0; first + block_size <= samples.attempts(); first += block_size)
        blocks.push_back(op_times_of(samples, rule, first, first + block_size));
    return blocks;
}

} // namespace a2aperf
