// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/pair_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

namespace a2aperf {
namespace {

constexpr double kNormal = 1.4826;       // sigma of a normal distribution / its median absolute deviation
constexpr double kMedianOfMean = 1.2533; // sqrt(pi / 2): standard error of a median / that of a mean
constexpr double kFewestSigmas = 4;
constexpr std::size_t kFewestCells = 3;   // of a rank, for a median that one slow pair does not move
constexpr std::size_t kFewestTimes = 4;   // one beside three others, of which one is the median
constexpr double kLeastSlowness = 0.0953; // log 1.1

// Of an even number the mean of the middle two, so that fast and slow weigh the same. Reorders values.
double median(std::vector<double>& values) {
    if (values.empty()) return kAbsent;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Every median that was taken out left a value of 0, which says nothing of the spread: as many of the smallest as
// were fitted don't count. Infinite where none is left.
double robust_sigma(std::span<const double> values, std::size_t fitted) {
    std::vector<double> sizes;
    for (const double value : values)
        if (!std::isnan(value)) sizes.push_back(std::abs(value));
    if (sizes.size() <= fitted) return std::numeric_limits<double>::infinity();
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(fitted));
    return kNormal * median(sizes);
}

using Cells = std::vector<std::vector<std::size_t>>; // of each rank: places among the pairs

// Takes the median out of each rank's residuals into its effect. True when any was worth it.
bool sweep(const Cells& cells, std::vector<double>& residual, std::vector<double>& effect) {
    constexpr double kNothing = 1e-9;
    bool has_moved = false;
    std::vector<double> values;
    for (std::size_t rank = 0; rank < cells.size(); ++rank) {
        values.clear();
        for (const std::size_t cell : cells[rank]) values.push_back(residual[cell]);
        const double middle = median(values);
        if (std::isnan(middle) || std::abs(middle) < kNothing) continue;
        for (const std::size_t cell : cells[rank]) residual[cell] -= middle;
        effect[rank] += middle;
        has_moved = true;
    }
    return has_moved;
}

// The effects' own median belongs to all.
double centre(std::vector<double>& effect) {
    std::vector<double> known;
    for (const double value : effect)
        if (!std::isnan(value)) known.push_back(value);
    const double middle = median(known);
    if (std::isnan(middle)) return 0;
    for (double& value : effect) value -= middle;
    return middle;
}

double effect_sigma(const std::vector<double>& effect, const Cells& cells, double residual_sigma) {
    std::size_t most = 1;
    for (const auto& of_rank : cells) most = std::max(most, of_rank.size());
    return std::max(robust_sigma(effect, 1), kMedianOfMean * residual_sigma / std::sqrt(static_cast<double>(most)));
}

} // namespace

double PairModel::expected(const PairTime& pair) const {
    return std::exp(overall + sender[static_cast<std::size_t>(pair.source)] +
                    receiver[static_cast<std::size_t>(pair.destination)]);
}

double PairModel::expected_of_receiver(Rank destination) const {
    return std::exp(overall + receiver[static_cast<std::size_t>(destination)]);
}

double PairModel::expected_of_sender(Rank source) const {
    return std::exp(overall + sender[static_cast<std::size_t>(source)]);
}

PairModel fit_pairs(std::span<const PairTime> pairs, int ranks) {
    constexpr int kMostSweeps = 50; // it mostly ends after a few; where cells go round in circles, that is enough
    const auto count = static_cast<std::size_t>(ranks);
    PairModel model;
    model.sender.assign(count, kAbsent);
    model.receiver.assign(count, kAbsent);
    model.residual.assign(pairs.size(), kAbsent);
    Cells rows(count);
    Cells columns(count);
    std::vector<double> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!(pairs[i].p50 > 0)) continue;
        const auto source = static_cast<std::size_t>(pairs[i].source);
        const auto destination = static_cast<std::size_t>(pairs[i].destination);
        rows[source].push_back(i);
        columns[destination].push_back(i);
        model.sender[source] = model.receiver[destination] = 0;
        model.residual[i] = std::log(pairs[i].p50);
        all.push_back(model.residual[i]);
    }
    if (all.empty()) return model;
    model.overall = median(all);
    for (double& residual : model.residual) residual -= model.overall;
    const auto ranks_with_cells = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const auto& cells) { return !cells.empty(); }));
    const bool has_effects = all.size() >= kFewestCells * ranks_with_cells;
    model.is_judged = all.size() >= kFewestTimes;
    for (int i = 0; has_effects && i < kMostSweeps; ++i) {
        const bool has_row_moved = sweep(rows, model.residual, model.sender);
        const bool has_column_moved = sweep(columns, model.residual, model.receiver);
        if (!has_row_moved && !has_column_moved) break;
    }
    model.overall += centre(model.sender) + centre(model.receiver);
    model.residual_sigma = robust_sigma(model.residual, has_effects ? 2 * ranks_with_cells : 1);
    if (!has_effects) return model;
    model.sender_sigma = effect_sigma(model.sender, rows, model.residual_sigma);
    model.receiver_sigma = effect_sigma(model.receiver, columns, model.residual_sigma);
    return model;
}

namespace {

// Beyond what chance makes of n values of this sigma, and of a size that matters.
bool is_slow(double value, double sigma, std::size_t n) {
    const double sigmas = std::max(kFewestSigmas, std::sqrt(2 * std::log(static_cast<double>(n))));
    return value > kLeastSlowness && value > sigmas * sigma;
}

// The pair in the middle of a rank's: what it does on an ordinary day.
std::optional<PairTime> median_pair(std::span<const PairTime> pairs, const PairModel& model, Rank PairTime::*end,
                                    Rank rank) {
    std::vector<std::size_t> cells;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (pairs[i].*end == rank && !std::isnan(model.residual[i])) cells.push_back(i);
    if (cells.empty()) return std::nullopt;
    const auto middle = cells.begin() + static_cast<std::ptrdiff_t>(cells.size() / 2);
    std::nth_element(cells.begin(), middle, cells.end(), [&](std::size_t left, std::size_t right) {
        return model.residual[left] < model.residual[right];
    });
    return pairs[*middle];
}

void add_slow_ranks(std::vector<Suspect>& suspects, std::span<const PairTime> pairs, const PairModel& model,
                    Weakness weakness) {
    const bool is_sender = weakness == Weakness::sender;
    const std::vector<double>& effect = is_sender ? model.sender : model.receiver;
    const double sigma = is_sender ? model.sender_sigma : model.receiver_sigma;
    for (std::size_t rank = 0; rank < effect.size(); ++rank) {
        if (!is_slow(effect[rank], sigma, effect.size())) continue;
        const auto pair = median_pair(pairs, model, is_sender ? &PairTime::source : &PairTime::destination,
                                      static_cast<Rank>(rank));
        if (!pair) continue;
        const double expected =
            is_sender ? model.expected_of_receiver(pair->destination) : model.expected_of_sender(pair->source);
        suspects.push_back({weakness, *pair, expected, std::exp(-effect[rank])});
    }
}

} // namespace

std::vector<Suspect> find_suspects(std::span<const PairTime> pairs, const PairModel& model) {
    std::vector<Suspect> suspects;
    add_slow_ranks(suspects, pairs, model, Weakness::sender);
    add_slow_ranks(suspects, pairs, model, Weakness::receiver);
    const auto slowest_first = [](const Suspect& left, const Suspect& right) { return left.share < right.share; };
    std::stable_sort(suspects.begin(), suspects.end(), slowest_first);
    const auto first_pair = static_cast<std::ptrdiff_t>(suspects.size());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (is_slow(model.residual[i], model.residual_sigma, pairs.size()))
            suspects.push_back({Weakness::pair, pairs[i], model.expected(pairs[i]), std::exp(-model.residual[i])});
    std::stable_sort(suspects.begin() + first_pair, suspects.end(), slowest_first);
    return suspects;
}

PairVerdict judge_pairs(std::span<const PairTime> pairs, const Layout& layout) {
    PairVerdict verdict;
    for (const bool is_within : {true, false}) {
        std::vector<PairTime> alike;
        std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(alike), [&](const PairTime& pair) {
            return (layout.node_of(pair.source) == layout.node_of(pair.destination)) == is_within;
        });
        const PairModel model = fit_pairs(alike, layout.ranks());
        verdict.is_judged |= model.is_judged;
        for (const PairTime& pair : alike) {
            verdict.pairs.push_back(pair);
            verdict.expected.push_back(model.expected(pair));
        }
        const std::vector<Suspect> suspects = find_suspects(alike, model);
        verdict.suspects.insert(verdict.suspects.end(), suspects.begin(), suspects.end());
    }
    std::stable_sort(verdict.suspects.begin(), verdict.suspects.end(), [](const Suspect& a, const Suspect& b) {
        const bool is_pair = a.weakness == Weakness::pair;
        const bool is_other_pair = b.weakness == Weakness::pair;
        return is_pair != is_other_pair ? is_other_pair : a.share < b.share;
    });
    return verdict;
}

} // namespace a2aperf
