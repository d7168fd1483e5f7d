// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/samples.hpp"

#include <algorithm>

namespace a2aperf {

std::string_view to_string(CompleteAt rule) {
    return rule == CompleteAt::receiver ? "receiver" : "sender";
}

int Samples::valid_ops() const {
    return static_cast<int>(std::count_if(valid.begin(), valid.end(), [](std::int8_t v) { return v != 0; }));
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

std::vector<Nanoseconds> op_times(const Samples& samples, CompleteAt rule) {
    std::vector<Nanoseconds> times;
    for (int attempt = 0; attempt < samples.attempts(); ++attempt) {
        if (samples.valid[static_cast<std::size_t>(attempt)] == 0) continue;
        Nanoseconds last = samples.end_of(attempt, 0, rule);
        for (Rank rank = 1; rank < samples.ranks; ++rank)
            last = std::max(last, samples.end_of(attempt, rank, rule));
        times.push_back(last);
    }
    return times;
}

} // namespace a2aperf
