// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/pair_plan.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "a2aperf/base/random.hpp"

namespace a2aperf {
namespace {

constexpr int kMostRanksWhole = 512; // up to here the default is every distance: a minute or two
constexpr int kDefaultSteps = 256;

} // namespace

std::vector<int> pair_distances(int ranks, int most, std::uint64_t seed) {
    std::vector<int> distances(static_cast<std::size_t>(ranks - 1));
    std::iota(distances.begin(), distances.end(), 1);
    if (most >= ranks - 1) return distances;
    if (most == 1) return {1};
    // One of each of as many parts of 2 … below R/2, and the opposites; R/2 is its own.
    const int parts = most / 2 - 1;
    const int room = (ranks - 1) / 2 - 1;
    Random random(seed);
    distances = {1, ranks - 1};
    for (int part = 0; part < parts; ++part) {
        const auto begin = static_cast<std::int64_t>(part) * room / parts;
        const auto end = (static_cast<std::int64_t>(part) + 1) * room / parts;
        const int distance =
            2 + static_cast<int>(begin) + static_cast<int>(random.below(static_cast<std::uint64_t>(end - begin)));
        distances.insert(distances.end(), {distance, ranks - distance});
    }
    if (most % 2 == 1 && ranks % 2 == 0) distances.push_back(ranks / 2);
    std::sort(distances.begin(), distances.end());
    return distances;
}

Point pair_point(const PairAxes& axes, Bytes message_size, int distance) {
    Point point;
    point.own_role = "pair";
    point.mode = axes.mode;
    point.schedule = &find_schedule("shift");
    point.message_size = message_size;
    point.post = axes.post;
    point.distance = distance;
    return point;
}

Plan make_pair_plan(const PairAxes& axes, const Layout& layout,
                    const std::function<std::optional<std::string>(const Point&)>& skip) {
    const int ranks = layout.ranks();
    const int by_default = ranks <= kMostRanksWhole ? ranks - 1 : kDefaultSteps;
    const auto distances = pair_distances(ranks, axes.most_steps.value_or(by_default), axes.seed);
    Plan plan;
    for (const int distance : distances) {
        for (const Bytes size : axes.sizes) {
            Point point = pair_point(axes, size, distance);
            point.skip_reason = skip(point).value_or("");
            plan.points.push_back(std::move(point));
        }
    }
    std::vector<int> steps(distances.size());
    std::iota(steps.begin(), steps.end(), 0);
    if (axes.order == Order::shuffled) Random(axes.seed).shuffle(std::span(steps));
    const auto sizes = static_cast<int>(axes.sizes.size());
    for (const int step : steps)
        for (int index = step * sizes; index < (step + 1) * sizes; ++index)
            if (!plan.points[static_cast<std::size_t>(index)].is_skipped()) plan.order.push_back(index);
    return plan;
}

} // namespace a2aperf
