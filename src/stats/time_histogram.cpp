// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/time_histogram.hpp"

#include <numeric>
#include <stdexcept>

namespace a2aperf {

std::int64_t TimeHistogram::total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::vector<TimeHistogram::Bucket> TimeHistogram::buckets() const {
    std::vector<Bucket> found;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] != 0) found.push_back({begin_of(i), counts_[i]});
    return found;
}

Nanoseconds TimeHistogram::at(std::int64_t index) const {
    std::int64_t below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (below += counts_[i]; index < below) return middle_of(begin_of(i));
    throw std::out_of_range("TimeHistogram::at: there are fewer");
}

} // namespace a2aperf
