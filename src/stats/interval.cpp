// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "a2aperf/base/random.hpp"
#include "a2aperf/stats/percentile.hpp"

namespace a2aperf {
namespace {

constexpr double kTail = 0.025; // probability outside on either side
constexpr double kNormalQuantile = 1.959963984540054;

// Block lengths in units of sqrt(n), the long one from a strong autocorrelation on. Chosen by simulation: 93 to
// 97 % coverage up to an autocorrelation of 0.7 with n = 100, 0.8 with n = 200 (test/unit/stats/interval_test.cpp).
constexpr double kDependenceQuantile = 1.645;
constexpr double kBlock = 1.3;
constexpr double kLongBlock = 3.0;
constexpr double kStrong = 0.6;

double lag_one(std::span<const double> centred) {
    double power = 0;
    double product = 0;
    for (std::size_t i = 0; i < centred.size(); ++i) {
        power += centred[i] * centred[i];
        if (i > 0) product += centred[i - 1] * centred[i];
    }
    return power > 0 ? product / power : std::numeric_limits<double>::quiet_NaN();
}

// Ranks around their mean; equal values share the middle of theirs.
std::vector<double> centred_ranks(std::span<const Nanoseconds> values) {
    const std::size_t n = values.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(n);
    for (std::size_t begin = 0; begin < n;) {
        std::size_t end = begin + 1;
        while (end < n && values[order[end]] == values[order[begin]]) ++end;
        const double middle = (static_cast<double>(begin + end) - 1) / 2;
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = middle - (static_cast<double>(n) - 1) / 2;
        begin = end;
    }
    return ranks;
}

// Ops per block; 1 where they pass for independent.
std::size_t block_length(std::span<const Nanoseconds> values) {
    const auto n = static_cast<double>(values.size());
    const double rho = lag_one(centred_ranks(values)) + 1 / n; // 1/n: its bias under independence
    if (!(rho > kDependenceQuantile / std::sqrt(n))) return 1;
    const double length = std::nearbyint((rho > kStrong ? kLongBlock : kBlock) * std::sqrt(n));
    return static_cast<std::size_t>(std::max(2.0, std::min(length, std::floor(n / 2))));
}

// Variance of the mean of values resampled in blocks, over its variance for independent values; at least 1. The
// mean square of all block sums, those that reach over the ends included, is the Bartlett-weighted sum of the
// autocovariances.
double inflation(std::span<const double> centred, std::size_t length) {
    double power = 0;
    double block_sum = 0;
    double block_power = 0;
    for (std::size_t i = 0; i < centred.size() + length - 1; ++i) {
        if (i < centred.size()) {
            power += centred[i] * centred[i];
            block_sum += centred[i];
        }
        if (i >= length) block_sum -= centred[i - length];
        block_power += block_sum * block_sum;
    }
    return power > 0 ? std::max(1.0, block_power / static_cast<double>(length) / power) : 1.0;
}

// 97.5 % quantile of the t statistic with Bartlett weights over `share` of the sample (Kiefer & Vogelsang 2005,
// table 1).
double fixed_b_quantile(double share) {
    return 1.96 + share * (2.9694 + share * (0.4160 - share * 0.5324));
}

// Medians of whole blocks drawn with repetition. Values are replaced by their ranks once, so that a drawn median
// is one pass of counting instead of a sort.
class BlockMedian {
public:
    explicit BlockMedian(std::span<const Block* const> blocks) {
        for (const Block* block : blocks) sorted_.insert(sorted_.end(), block->begin(), block->end());
        std::sort(sorted_.begin(), sorted_.end());
        count_.resize(sorted_.size());
        for (const Block* block : blocks) {
            std::vector<std::size_t>& ranks = ranks_.emplace_back();
            for (const Nanoseconds value : *block) {
                const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), value) - sorted_.begin();
                ranks.push_back(static_cast<std::size_t>(at));
            }
        }
    }

    Nanoseconds of(std::span<const std::size_t> blocks) {
        std::fill(count_.begin(), count_.end(), 0U);
        std::size_t drawn = 0;
        for (const std::size_t block : blocks) {
            for (const std::size_t rank : ranks_[block]) ++count_[rank];
            drawn += ranks_[block].size();
        }
        const std::size_t middle = percentile_index(drawn, 0.5, PercentileRule::rank);
        std::size_t at = 0;
        for (std::size_t below = count_[0]; below <= middle; below += count_[at]) ++at;
        return sorted_[at];
    }

private:
    std::vector<Nanoseconds> sorted_;
    std::vector<std::vector<std::size_t>> ranks_; // of each block's values among all
    std::vector<unsigned> count_;
};

} // namespace

double student_quantile(double nu) {
    constexpr double z = kNormalQuantile;
    constexpr double z3 = z * z * z;
    constexpr double z5 = z3 * z * z;
    constexpr double z7 = z5 * z * z;
    return z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu * nu * nu);
}

double reach(const Interval& interval, double median) {
    return std::max(interval.high - median, median - interval.low) / median;
}

std::optional<RankPair> quantile_interval_ranks(std::size_t n, double q) {
    if (n == 0 || q <= 0 || q >= 1) return std::nullopt;
    // Walks the binomial distribution of the number of values below the quantile from where it is negligible.
    const auto size = static_cast<double>(n);
    const double deviation = std::sqrt(size * q * (1 - q));
    double k = std::max(0.0, std::floor(size * q - 12 * deviation - 40));
    double probability = std::exp(std::lgamma(size + 1) - std::lgamma(k + 1) - std::lgamma(size - k + 1) +
                                  k * std::log(q) + (size - k) * std::log1p(-q));
    double cumulative = probability;
    const auto walk_until = [&](auto reached) {
        while (!reached() && k < size) {
            probability *= (size - k) / (k + 1) * (q / (1 - q));
            cumulative += probability;
            ++k;
        }
        return static_cast<std::size_t>(k);
    };
    const std::size_t low = walk_until([&] { return cumulative > kTail; });
    const std::size_t high = walk_until([&] { return cumulative >= 1 - kTail; }) + 1;
    if (low < 1 || high > n) return std::nullopt;
    return RankPair{low, high};
}

std::optional<Interval> quantile_interval(std::span<const Nanoseconds> sorted, double q) {
    const std::optional<RankPair> ranks = quantile_interval_ranks(sorted.size(), q);
    if (!ranks) return std::nullopt;
    return Interval{static_cast<double>(sorted[ranks->low - 1]), static_cast<double>(sorted[ranks->high - 1])};
}

double autocorrelation(std::span<const Nanoseconds> values) {
    if (values.size() < 3) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> centred(values.begin(), values.end());
    const double mean = std::accumulate(centred.begin(), centred.end(), 0.0) / static_cast<double>(centred.size());
    for (double& value : centred) value -= mean;
    return lag_one(centred);
}

SeriesInterval series_interval(std::span<const Nanoseconds> values, double q) {
    std::vector<Nanoseconds> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const std::optional<Interval> independent = quantile_interval(sorted, q);
    if (!independent) return {};
    const std::size_t length = block_length(values);
    if (length == 1) return {independent, IntervalKind::order_statistics};

    const auto n = static_cast<double>(values.size());
    const Nanoseconds quantile = percentile(sorted, q, PercentileRule::rank);
    std::vector<double> is_below(values.size());
    std::transform(values.begin(), values.end(), is_below.begin(),
                   [&](Nanoseconds value) { return value <= quantile ? 1.0 : 0.0; });
    const double share = std::accumulate(is_below.begin(), is_below.end(), 0.0) / n;
    for (double& below : is_below) below -= share;
    const double half = fixed_b_quantile(static_cast<double>(length) / n) *
                        std::sqrt(inflation(is_below, length) * n * q * (1 - q));
    const double low = std::floor(n * q + 0.5 - half);
    const double high = std::ceil(n * q + 0.5 + half);
    if (low < 1 || high > n) return {};
    const auto value_at = [&](double rank) {
        return static_cast<double>(sorted[static_cast<std::size_t>(rank) - 1]);
    };
    return {Interval{value_at(low), value_at(high)}, IntervalKind::block_bootstrap};
}

std::optional<Interval> ratio_interval(std::span<const Block> numerator, std::span<const Block> denominator) {
    constexpr std::size_t kLeastPairs = 6;
    constexpr std::size_t kDraws = 2000;
    constexpr std::uint64_t kSeed = 1;
    std::vector<const Block*> upper;
    std::vector<const Block*> lower;
    for (std::size_t i = 0; i < std::min(numerator.size(), denominator.size()); ++i) {
        if (numerator[i].empty() || denominator[i].empty()) continue;
        upper.push_back(&numerator[i]);
        lower.push_back(&denominator[i]);
    }
    const std::size_t pairs = upper.size();
    if (pairs < kLeastPairs) return std::nullopt;

    BlockMedian above(upper);
    BlockMedian below(lower);
    std::vector<std::size_t> blocks(pairs);
    const auto log_ratio = [&] {
        return std::log(static_cast<double>(above.of(blocks)) / static_cast<double>(below.of(blocks)));
    };
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    const double measured = log_ratio();
    Random random(kSeed);
    std::vector<double> drawn(kDraws);
    for (double& value : drawn) {
        for (std::size_t& block : blocks) block = static_cast<std::size_t>(random.below(pairs));
        value = log_ratio();
    }
    std::sort(drawn.begin(), drawn.end());
    // A resample of m pairs spreads by (m - 1)/m too little, and the normal quantile is too small for few pairs.
    const auto m = static_cast<double>(pairs);
    const double widening = student_quantile(m - 1) / kNormalQuantile * std::sqrt(m / (m - 1));
    const auto end = [&](double q) {
        const double at = drawn[percentile_index(kDraws, q, PercentileRule::rank)];
        return std::exp(measured + widening * (at - measured));
    };
    return Interval{end(kTail), end(1 - kTail)};
}

} // namespace a2aperf
