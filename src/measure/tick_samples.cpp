// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/tick_samples.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace a2aperf {

TickSamples::TickSamples(std::span<const std::string_view> counters)
    : counters_(counters.begin(), counters.end()), columns_(counters.size()), last_(counters.size()) {}

void TickSamples::reserve(std::size_t rows) {
    moments_.assign(rows, 0);
    for (auto& column : columns_) column.assign(rows, 0);
    std::ranges::fill(last_, 0);
    size_ = lost_ = 0;
}

void TickSamples::take(Nanoseconds moment, std::span<const std::uint64_t> totals) {
    if (size_ + 1 < moments_.size())
        keep(moment, totals);
    else
        ++lost_;
}

void TickSamples::end(Nanoseconds moment, std::span<const std::uint64_t> totals) {
    if (lost_ == 0 && size_ < moments_.size()) keep(moment, totals);
}

void TickSamples::keep(Nanoseconds moment, std::span<const std::uint64_t> totals) {
    moments_[size_] = moment;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        columns_[i][size_] = totals[i] - last_[i];
        last_[i] = totals[i];
    }
    ++size_;
}

std::span<const std::uint64_t> TickSamples::column(std::string_view counter) const {
    const auto at = std::ranges::find(counters_, counter);
    if (at == counters_.end()) throw std::out_of_range(fmt::format("no counter '{}'", counter));
    return std::span(columns_[static_cast<std::size_t>(at - counters_.begin())]).first(size_);
}

} // namespace a2aperf
