// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{1} << 30U; // the weight of an entry like any other

template <class Weight>
TrafficMatrix of_each(const Layout& layout, Weight&& weight) {
    TrafficMatrix matrix(layout.ranks());
    for (Rank from = 0; from < layout.ranks(); ++from)
        for (Rank to = 0; to < layout.ranks(); ++to)
            if (from != to) matrix.set(from, to, weight(from, to));
    return matrix;
}

std::vector<Rank> shuffled_ranks(int ranks, Random& random) {
    std::vector<Rank> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(std::span(order));
    return order;
}

TrafficMatrix zipf(double exponent, const Layout& layout, Random random) {
    const std::vector<Rank> order = shuffled_ranks(layout.ranks(), random);
    std::vector<std::uint64_t> weight_of(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        const double share = std::pow(static_cast<double>(place + 1), -exponent);
        weight_of[static_cast<std::size_t>(order[place])] = std::max<std::uint64_t>(
            static_cast<std::uint64_t>(std::llround(share * static_cast<double>(kUnit))), 1);
    }
    return of_each(layout, [&](Rank, Rank to) { return weight_of[static_cast<std::size_t>(to)]; });
}

std::uint64_t times(double factor) {
    return static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(kUnit)));
}

TrafficMatrix hot_rank(double factor, const Layout& layout, Random random) {
    const auto hot = static_cast<Rank>(random.below(static_cast<std::uint64_t>(layout.ranks())));
    return of_each(layout, [&](Rank, Rank to) { return to == hot ? times(factor) : kUnit; });
}

TrafficMatrix hot_node(double factor, const Layout& layout, Random random) {
    if (layout.nodes() < 2) throw UsageError("a hot node needs at least 2 nodes: hot-rank serves one");
    const auto hot = static_cast<int>(random.below(static_cast<std::uint64_t>(layout.nodes())));
    return of_each(layout, [&](Rank, Rank to) { return layout.node_of(to) == hot ? times(factor) : kUnit; });
}

// One round through all ranks: nobody sends to itself.
TrafficMatrix permutation(double, const Layout& layout, Random random) {
    const std::vector<Rank> order = shuffled_ranks(layout.ranks(), random);
    TrafficMatrix matrix(layout.ranks());
    for (std::size_t i = 0; i < order.size(); ++i) matrix.set(order[i], order[(i + 1) % order.size()], 1);
    return matrix;
}

TrafficMatrix shift(double distance, const Layout& layout, Random) {
    const int ranks = layout.ranks();
    const int ahead = static_cast<int>(distance);
    if (ahead >= ranks)
        throw UsageError(fmt::format("{} ranks have the distances 1 to {}, not {}", ranks, ranks - 1, ahead));
    return of_each(layout, [&](Rank from, Rank to) { return std::uint64_t{to == (from + ahead) % ranks}; });
}

TrafficMatrix neighbours(double reach, const Layout& layout, Random) {
    const int ranks = layout.ranks();
    if (static_cast<int>(reach) > ranks / 2)
        throw UsageError(fmt::format("{} ranks have at most {} neighbours to either side, not {}", ranks, ranks / 2,
                                     static_cast<int>(reach)));
    return of_each(layout, [&](Rank from, Rank to) {
        const int apart = std::abs(from - to);
        return std::uint64_t{std::min(apart, ranks - apart) <= static_cast<int>(reach)};
    });
}

// Each pair by itself.
TrafficMatrix sparse(double percent, const Layout& layout, Random random) {
    constexpr double kParts = 1e9;
    const auto below = static_cast<std::uint64_t>(std::llround(percent / 100 * kParts));
    return of_each(layout, [&](Rank, Rank) {
        return std::uint64_t{random.below(static_cast<std::uint64_t>(kParts)) < below};
    });
}

TrafficMatrix incast(double, const Layout& layout, Random) {
    return of_each(layout, [](Rank, Rank to) { return std::uint64_t{to == 0}; });
}

TrafficMatrix outcast(double, const Layout& layout, Random) {
    return of_each(layout, [](Rank from, Rank) { return std::uint64_t{from == 0}; });
}

TrafficMatrix bisection(double, const Layout& layout, Random) {
    const auto is_lower = [&](Rank rank) {
        return layout.nodes() > 1 ? layout.node_of(rank) < layout.nodes() / 2 : rank < layout.ranks() / 2;
    };
    return of_each(layout, [&](Rank from, Rank to) { return std::uint64_t{is_lower(from) != is_lower(to)}; });
}

constexpr std::array kGenerators{
    TrafficGenerator{"uniform", "uniform", "the same to every rank", 0, 0, "", false, nullptr},
    TrafficGenerator{"zipf", "zipf=1.2", "the k-th rank of a seeded order is sent a share of k^-s by everybody",
                     0.01, 10, "", false, zipf},
    TrafficGenerator{"hot-rank", "hot-rank=3x", "one rank, by the seed, is sent so many times as much as another",
                     1, 1000, "x", false, hot_rank},
    TrafficGenerator{"hot-node", "hot-node=4x", "each rank of one node, by the seed, is", 1, 1000, "x", false,
                     hot_node},
    TrafficGenerator{"permutation", "permutation", "each sends to one rank, by the seed, and is sent by one", 0, 0,
                     "", false, permutation},
    TrafficGenerator{"shift", "shift=1", "rank r sends to (r + K) mod R alone", 1, 1e6, "", true, shift},
    TrafficGenerator{"neighbours", "neighbours=2", "to the D ranks on either side, in a ring", 1, 1e6, "", true,
                     neighbours},
    TrafficGenerator{"sparse", "sparse=10%", "each pair of ranks has messages with this chance, by the seed",
                     0.0001, 100, "%", false, sparse},
    TrafficGenerator{"incast", "incast", "all send to rank 0", 0, 0, "", false, incast},
    TrafficGenerator{"outcast", "outcast", "rank 0 sends to all", 0, 0, "", false, outcast},
    TrafficGenerator{"bisection", "bisection",
                     "between the two halves of the node list, of one node between those of its ranks", 0, 0, "",
                     false, bisection},
};

const TrafficGenerator& find_generator(std::string_view name) {
    std::vector<std::string_view> names;
    for (const TrafficGenerator& generator : kGenerators) {
        if (generator.name == name) return generator;
        names.push_back(generator.name);
    }
    names.emplace_back("a file .mtx or .csv");
    throw_unknown("traffic", name, names);
}

bool has_value(const TrafficGenerator& generator) {
    return generator.most > 0;
}

[[noreturn]] void refuse_value(const TrafficGenerator& generator, std::string_view text) {
    throw UsageError(fmt::format("{}: expected {} from {}{s} to {}{s}, as in {}", quote(text),
                                 generator.is_whole ? "a whole number" : "a number", generator.least,
                                 generator.most, generator.example, fmt::arg("s", generator.suffix)));
}

double value_of(const TrafficGenerator& generator, std::string_view text, std::string_view whole) {
    if (!text.ends_with(generator.suffix)) refuse_value(generator, whole);
    text.remove_suffix(generator.suffix.size());
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
    if (!is_number || value < generator.least || value > generator.most ||
        (generator.is_whole && value != std::floor(value)))
        refuse_value(generator, whole);
    return value;
}

} // namespace

std::span<const TrafficGenerator> traffic_generators() {
    return kGenerators;
}

TrafficPattern TrafficPattern::parse(std::string_view text) {
    const std::size_t equals = text.find('=');
    TrafficPattern pattern;
    pattern.generator_ = &find_generator(text.substr(0, equals));
    pattern.name_ = pattern.generator_->name;
    const bool is_given = equals != std::string_view::npos;
    if (is_given != has_value(*pattern.generator_))
        throw UsageError(fmt::format("{}: {}, as in {}", quote(text),
                                     is_given ? "it takes no value" : "a value is missing",
                                     pattern.generator_->example));
    if (!is_given) return pattern;
    pattern.value_ = value_of(*pattern.generator_, text.substr(equals + 1), text);
    pattern.name_ += fmt::format("={}{}", pattern.value_, pattern.generator_->suffix);
    return pattern;
}

TrafficPattern TrafficPattern::parse_file(std::string_view name, std::string_view words) {
    TrafficPattern pattern;
    pattern.name_ = name.substr(name.rfind('/') + 1);
    try {
        pattern.of_file_ =
            std::make_shared<TrafficMatrix>(name.ends_with(".mtx") ? parse_mtx(words) : parse_csv_matrix(words));
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}", quote(pattern.name_), error.what()));
    }
    return pattern;
}

TrafficMatrix TrafficPattern::matrix(const Layout& layout, std::uint64_t seed) const {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(fmt::format("--traffic {}: {}", quote(name_), why));
    };
    if (layout.ranks() > kMostTrafficRanks)
        refuse(fmt::format("{} ranks, and a matrix has room for {}", layout.ranks(), kMostTrafficRanks));
    if (of_file_ && of_file_->ranks() != layout.ranks())
        refuse(fmt::format("a matrix of {0} x {0}, and there are {1} ranks", of_file_->ranks(), layout.ranks()));
    TrafficMatrix matrix(layout.ranks());
    try {
        matrix = of_file_ ? *of_file_ : generator_->make(value_, layout, Random(mix64(seed)));
    } catch (const UsageError& error) {
        refuse(error.what());
    }
    if (matrix.total() == 0) refuse("nothing is sent: no rank has a byte for another one");
    return matrix;
}

} // namespace a2aperf
