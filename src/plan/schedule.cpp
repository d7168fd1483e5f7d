// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/plan/forwarding.hpp"

namespace a2aperf {
namespace {

using Refusal = std::optional<std::string>;

int modulo(int value, int ranks) {
    return ((value % ranks) + ranks) % ranks;
}

Refusal never(const Layout& /*layout*/) {
    return std::nullopt;
}

std::vector<Step> shift_steps(Rank rank, const Layout& layout, std::uint64_t /*seed*/) {
    const int ranks = layout.ranks();
    std::vector<Step> steps;
    for (int i = 1; i < ranks; ++i) steps.push_back({modulo(rank + i, ranks), modulo(rank - i, ranks)});
    return steps;
}

Refusal refuse_no_power_of_two(const Layout& layout) {
    if (std::has_single_bit(static_cast<unsigned>(layout.ranks()))) return std::nullopt;
    return fmt::format("xor needs a power of two as the number of ranks, not {}: shift takes any number",
                       layout.ranks());
}

std::vector<Step> xor_steps(Rank rank, const Layout& layout, std::uint64_t /*seed*/) {
    std::vector<Step> steps;
    for (int i = 1; i < layout.ranks(); ++i) steps.push_back({rank ^ i, rank ^ i});
    return steps;
}

std::vector<Step> permutation_steps(Rank rank, const Layout& layout, std::uint64_t seed) {
    const int ranks = layout.ranks();
    std::vector<Rank> rank_at(static_cast<std::size_t>(ranks));
    std::iota(rank_at.begin(), rank_at.end(), 0);
    Random(seed).shuffle(std::span(rank_at));
    const auto position = static_cast<int>(std::find(rank_at.begin(), rank_at.end(), rank) - rank_at.begin());
    const auto at = [&](int i) { return rank_at[static_cast<std::size_t>(modulo(i, ranks))]; };
    std::vector<Step> steps;
    for (int i = 1; i < ranks; ++i) steps.push_back({at(position + i), at(position - i)});
    return steps;
}

std::vector<Rank> peers_of(Rank rank, int ranks) {
    std::vector<Rank> peers;
    for (Rank peer = 0; peer < ranks; ++peer) {
        if (peer != rank) peers.push_back(peer);
    }
    return peers;
}

std::vector<Step> random_steps(Rank rank, const Layout& layout, std::uint64_t seed) {
    std::vector<Rank> targets = peers_of(rank, layout.ranks());
    std::vector<Rank> sources = targets;
    Random random(mix64(seed) ^ static_cast<std::uint64_t>(rank)); // a stream of its own for each rank
    random.shuffle(std::span(targets));
    random.shuffle(std::span(sources));
    std::vector<Step> steps;
    for (std::size_t i = 0; i < targets.size(); ++i) steps.push_back({targets[i], sources[i]});
    return steps;
}

std::vector<Step> naive_steps(Rank rank, const Layout& layout, std::uint64_t /*seed*/) {
    std::vector<Step> steps;
    for (const Rank peer : peers_of(rank, layout.ranks())) steps.push_back({peer, peer});
    return steps;
}

Refusal refuse_uneven_nodes(const Layout& layout) {
    if (layout.is_even()) return std::nullopt;
    const auto [fewest, most] = std::minmax_element(layout.ranks_on_node().begin(), layout.ranks_on_node().end());
    return fmt::format("node-shift needs the same number of ranks on every node, not {} to {}: shift takes any "
                       "number",
                       *fewest, *most);
}

std::vector<Step> node_shift_steps(Rank rank, const Layout& layout, std::uint64_t /*seed*/) {
    const int nodes = layout.nodes();
    const int per_node = layout.ranks() / nodes;
    const auto at = [&](int node, int local) {
        return layout.rank_at()[static_cast<std::size_t>(modulo(node, nodes))]
                               [static_cast<std::size_t>(modulo(local, per_node))];
    };
    const int node = layout.node_of(rank);
    const int local = layout.local_index(rank);
    std::vector<Step> steps;
    for (int i = 1; i < layout.ranks(); ++i) {
        const int distance = i / per_node;
        const int turn = i % per_node;
        steps.push_back({at(node + distance, local + turn), at(node - distance, local - turn)});
    }
    return steps;
}

constexpr std::array kSchedules{
    Schedule{"shift", "step i sends to (r + i) mod R and receives from (r - i) mod R", never, shift_steps},
    Schedule{"xor", "step i exchanges with r xor i; R is a power of two", refuse_no_power_of_two, xor_steps},
    Schedule{"permutation",
             "shift over a seeded order p of the ranks: p[j] sends to p[j + i], from p[j - i], mod R", never,
             permutation_steps},
    Schedule{"random", "every rank visits its peers in a seeded order of its own", never, random_steps},
    Schedule{"naive", "every rank visits 0, 1, ... R-1 without itself: all begin at rank 0", never, naive_steps},
    Schedule{
        "node-shift",
        "step i sends to node (n + i div k) mod N, there to local rank (l + i mod k) mod k; k equal on all nodes",
        refuse_uneven_nodes, node_shift_steps},
    // Of equal messages between all ranks both are shift.
    Schedule{
        "greedy",
        "of --traffic: the largest message first, each in the first step in which its source sends nothing and "
        "its destination receives nothing; of uniform traffic that is shift",
        never, shift_steps, MessageSteps::greedy},
    Schedule{
        "coloured",
        "of --traffic: the same, but in as few steps as there can be, as many as the busiest rank has messages; "
        "of uniform traffic shift",
        never, shift_steps, MessageSteps::coloured},
    Schedule{"node-aware",
             "between nodes by way of their first ranks: those gather what their node has for others, exchange it "
             "as one message per pair of nodes, and give each rank its part; for small messages",
             Forwarding::refusal, shift_steps, nullptr, true},
};

constexpr auto kNames = [] {
    std::array<std::string_view, kSchedules.size()> names;
    std::transform(kSchedules.begin(), kSchedules.end(), names.begin(), [](const Schedule& s) { return s.name; });
    return names;
}();

} // namespace

std::span<const Schedule> schedules() {
    return kSchedules;
}

const Schedule& find_schedule(std::string_view name) {
    const auto found =
        std::find_if(kSchedules.begin(), kSchedules.end(), [&](const Schedule& s) { return s.name == name; });
    if (found == kSchedules.end()) throw_unknown("schedule", name, kNames);
    return *found;
}

} // namespace a2aperf
