// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_draws.hpp"

#include <algorithm>
#include <utility>

#include "a2aperf/base/random.hpp"

namespace a2aperf {

TrafficDraws::TrafficDraws(TrafficPattern pattern, const Layout& layout, std::uint64_t seed)
    : pattern_(std::move(pattern)), layout_(layout), seed_(seed), count_(pattern_.draws(layout.ranks())) {
    for (int op = 0; op < count_; ++op) digest_ = mix64(digest_ ^ matrix(op).digest());
    digest_ = std::max<std::uint64_t>(digest_ >> 1U, 1);
}

} // namespace a2aperf
