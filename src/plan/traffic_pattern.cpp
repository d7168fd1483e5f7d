// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"
#include "experts.hpp"

namespace a2aperf {
namespace {

using Values = std::span<const double>;

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

TrafficMatrix zipf(Values values, const Layout& layout, const TrafficDraw& draw) {
    Random random = draw.of_op();
    const std::vector<Rank> order = shuffled_ranks(layout.ranks(), random);
    std::vector<std::uint64_t> weight_of(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        const double share = std::pow(static_cast<double>(place + 1), -values[0]);
        weight_of[static_cast<std::size_t>(order[place])] = std::max<std::uint64_t>(
            static_cast<std::uint64_t>(std::llround(share * static_cast<double>(kUnit))), 1);
    }
    return of_each(layout, [&](Rank, Rank to) { return weight_of[static_cast<std::size_t>(to)]; });
}

std::uint64_t times(double factor) {
    return static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(kUnit)));
}

TrafficMatrix hot_rank(Values values, const Layout& layout, const TrafficDraw& draw) {
    Random random = draw.of_op();
    const auto hot = static_cast<Rank>(random.below(static_cast<std::uint64_t>(layout.ranks())));
    return of_each(layout, [&](Rank, Rank to) { return to == hot ? times(values[0]) : kUnit; });
}

// The next rank with each op, from the one that is hot where nothing moves.
TrafficMatrix rotating_hot(Values values, const Layout& layout, const TrafficDraw& draw) {
    const auto ranks = static_cast<std::uint64_t>(layout.ranks());
    const auto hot =
        static_cast<Rank>((draw.of_launch().below(ranks) + static_cast<std::uint64_t>(draw.number)) % ranks);
    return of_each(layout, [&](Rank, Rank to) { return to == hot ? times(values[0]) : kUnit; });
}

TrafficMatrix hot_node(Values values, const Layout& layout, const TrafficDraw& draw) {
    if (layout.nodes() < 2) throw UsageError("a hot node needs at least 2 nodes: hot-rank serves one");
    Random random = draw.of_op();
    const auto hot = static_cast<int>(random.below(static_cast<std::uint64_t>(layout.nodes())));
    return of_each(layout, [&](Rank, Rank to) { return layout.node_of(to) == hot ? times(values[0]) : kUnit; });
}

// One round through all ranks: nobody sends to itself.
TrafficMatrix permutation(Values, const Layout& layout, const TrafficDraw& draw) {
    Random random = draw.of_op();
    const std::vector<Rank> order = shuffled_ranks(layout.ranks(), random);
    TrafficMatrix matrix(layout.ranks());
    for (std::size_t i = 0; i < order.size(); ++i) matrix.set(order[i], order[(i + 1) % order.size()], 1);
    return matrix;
}

TrafficMatrix shift(Values values, const Layout& layout, const TrafficDraw&) {
    const int ranks = layout.ranks();
    const int ahead = static_cast<int>(values[0]);
    if (ahead >= ranks)
        throw UsageError(ranks == 2
                             ? fmt::format("2 ranks have the distance 1, not {}", ahead)
                             : fmt::format("{} ranks have the distances 1 to {}, not {}", ranks, ranks - 1, ahead));
    return of_each(layout, [&](Rank from, Rank to) { return std::uint64_t{to == (from + ahead) % ranks}; });
}

TrafficMatrix neighbours(Values values, const Layout& layout, const TrafficDraw&) {
    const int ranks = layout.ranks();
    const auto reach = static_cast<int>(values[0]);
    if (reach > ranks / 2)
        throw UsageError(fmt::format("{} ranks have at most {} to either side, not {}", ranks,
                                     counted(ranks / 2, "neighbour"), reach));
    return of_each(layout, [&](Rank from, Rank to) {
        const int apart = std::abs(from - to);
        return std::uint64_t{std::min(apart, ranks - apart) <= reach};
    });
}

// Each pair by itself.
TrafficMatrix sparse(Values values, const Layout& layout, const TrafficDraw& draw) {
    Random random = draw.of_op();
    constexpr double kParts = 1e9;
    const auto below = static_cast<std::uint64_t>(std::llround(values[0] / 100 * kParts));
    return of_each(layout, [&](Rank, Rank) {
        return std::uint64_t{random.below(static_cast<std::uint64_t>(kParts)) < below};
    });
}

TrafficMatrix incast(Values, const Layout& layout, const TrafficDraw&) {
    return of_each(layout, [](Rank, Rank to) { return std::uint64_t{to == 0}; });
}

TrafficMatrix outcast(Values, const Layout& layout, const TrafficDraw&) {
    return of_each(layout, [](Rank from, Rank) { return std::uint64_t{from == 0}; });
}

TrafficMatrix bisection(Values, const Layout& layout, const TrafficDraw&) {
    const auto is_lower = [&](Rank rank) {
        return layout.nodes() > 1 ? layout.node_of(rank) < layout.nodes() / 2 : rank < layout.ranks() / 2;
    };
    return of_each(layout, [&](Rank from, Rank to) { return std::uint64_t{is_lower(from) != is_lower(to)}; });
}

constexpr TrafficParameter kExpertParameters[] = {{"experts", 64, 1, 65536, true},
                                                  {"top", 8, 1, 1024, true},
                                                  {"capacity", 1.25, 0.01, 1000, false},
                                                  {"tokens", 1024, 1, 1e6, true}};

Experts experts_of(Values values) {
    return {.experts = static_cast<int>(values[0]),
            .top = static_cast<int>(values[1]),
            .capacity = values[2],
            .tokens = static_cast<int>(values[3])};
}

std::string refuse_experts(Values values) {
    return values[1] <= values[0] ? "" : fmt::format("a token can't go to {} of {} experts", values[1], values[0]);
}

// Every rank routes the tokens of all.
TrafficMatrix moe(Values values, const Layout& layout, const TrafficDraw& draw) {
    constexpr double kMostCopies = 1U << 28U;
    const Experts experts = experts_of(values);
    if (const double copies = static_cast<double>(layout.ranks()) * experts.tokens * experts.top;
        copies > kMostCopies)
        throw UsageError(
            fmt::format("{} ranks x {} tokens x {} experts are more than the {} copies that are routed: "
                        "give fewer tokens",
                        layout.ranks(), experts.tokens, experts.top, kMostCopies));
    return expert_traffic(experts, layout.ranks(), draw.of_op());
}

constexpr std::array kGenerators{
    TrafficGenerator{"uniform", "uniform", "the same to every rank", 0, 0, "", false, nullptr},
    TrafficGenerator{"zipf", "zipf=1.2", "the k-th rank of a seeded order is sent a share of k^-s by everybody",
                     0.01, 10, "", false, zipf, true},
    TrafficGenerator{"hot-rank", "hot-rank=3x", "one rank, by the seed, is sent so many times as much as another",
                     1, 1000, "x", false, hot_rank, true},
    TrafficGenerator{"rotating-hot", "rotating-hot=3x", "one rank, the next one with each op, is (--redraw op)", 1,
                     1000, "x", false, rotating_hot, true, true},
    TrafficGenerator{"hot-node", "hot-node=4x", "each rank of one node, by the seed, is", 1, 1000, "x", false,
                     hot_node, true},
    TrafficGenerator{"permutation", "permutation", "each sends to one rank, by the seed, and is sent by one", 0, 0,
                     "", false, permutation, true},
    TrafficGenerator{"shift", "shift=1", "rank r sends to (r + K) mod R alone", 1, 1e6, "", true, shift},
    TrafficGenerator{"neighbours", "neighbours=2", "to the D ranks on either side, in a ring", 1, 1e6, "", true,
                     neighbours},
    TrafficGenerator{"sparse", "sparse=10%", "each pair of ranks has messages with this chance, by the seed",
                     0.0001, 100, "%", false, sparse, true},
    TrafficGenerator{"incast", "incast", "all send to rank 0", 0, 0, "", false, incast},
    TrafficGenerator{"outcast", "outcast", "rank 0 sends to all", 0, 0, "", false, outcast},
    TrafficGenerator{"bisection", "bisection",
                     "between the two halves of the node list, of one node between those of its ranks", 0, 0, "",
                     false, bisection},
    TrafficGenerator{"moe", "moe(experts=64,top=8,capacity=1.25,tokens=1024)",
                     "each rank's tokens go to so many of the experts, by the seed, which the ranks share evenly",
                     0, 0, "", false, moe, true, false, kExpertParameters, refuse_experts},
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

std::optional<double> number_within(std::string_view text, double least, double most, bool is_whole) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
    if (!is_number || value < least || value > most || (is_whole && value != std::floor(value)))
        return std::nullopt;
    return value;
}

double value_of(const TrafficGenerator& generator, std::string_view text, std::string_view whole) {
    if (!text.ends_with(generator.suffix)) refuse_value(generator, whole);
    text.remove_suffix(generator.suffix.size());
    const auto value = number_within(text, generator.least, generator.most, generator.is_whole);
    if (!value) refuse_value(generator, whole);
    return *value;
}

// What is given of them, "experts=8,top=2"; the others as usual.
std::vector<double> parameters_of(const TrafficGenerator& generator, std::string_view given,
                                  std::string_view whole) {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(fmt::format("{}: {}, as in {}", quote(whole), why, generator.example));
    };
    std::vector<double> values;
    std::vector<std::string_view> names;
    for (const TrafficParameter& parameter : generator.parameters) {
        values.push_back(parameter.usual);
        names.push_back(parameter.name);
    }
    std::vector<std::string_view> seen;
    for (bool is_more = !given.empty(); is_more;) {
        const std::size_t comma = given.find(',');
        const std::string_view item = given.substr(0, comma);
        is_more = comma != std::string_view::npos;
        if (is_more) given.remove_prefix(comma + 1);
        if (item.empty()) refuse("an item within the parentheses is empty");
        const std::size_t equals = item.find('=');
        const std::string_view name = item.substr(0, equals);
        const auto found = std::ranges::find(names, name);
        if (found == names.end())
            refuse(
                fmt::format("{} is none of its values: expected one of {}", quote(item), fmt::join(names, ", ")));
        if (equals == std::string_view::npos) refuse(fmt::format("the value of {} is missing", name));
        if (std::ranges::find(seen, name) != seen.end()) refuse(fmt::format("{} is given twice", name));
        seen.push_back(name);
        const auto at = static_cast<std::size_t>(found - names.begin());
        const TrafficParameter& parameter = generator.parameters[at];
        const auto value =
            number_within(item.substr(equals + 1), parameter.least, parameter.most, parameter.is_whole);
        if (!value)
            refuse(fmt::format("{} is {} from {} to {}", name, parameter.is_whole ? "a whole number" : "a number",
                               parameter.least, parameter.most));
        values[at] = *value;
    }
    if (generator.refusal != nullptr)
        if (const std::string why = generator.refusal(values); !why.empty()) refuse(why);
    return values;
}

} // namespace

std::span<const TrafficGenerator> traffic_generators() {
    return kGenerators;
}

TrafficPattern TrafficPattern::parse(std::string_view text) {
    const std::size_t name_end = text.find_first_of("=(");
    TrafficPattern pattern;
    const TrafficGenerator& generator = find_generator(text.substr(0, name_end));
    pattern.generator_ = &generator;
    pattern.name_ = generator.name;
    const bool is_given = name_end != std::string_view::npos;
    if (!generator.parameters.empty()) {
        if (is_given && (text[name_end] != '(' || !text.ends_with(')')))
            throw UsageError(
                fmt::format("{}: its values stand in parentheses, as in {}", quote(text), generator.example));
        const std::string_view given =
            is_given ? text.substr(name_end + 1, text.size() - name_end - 2) : std::string_view();
        pattern.values_ = parameters_of(generator, given, text);
        std::vector<std::string> words;
        for (std::size_t i = 0; i < pattern.values_.size(); ++i)
            words.push_back(fmt::format("{}={}", generator.parameters[i].name, pattern.values_[i]));
        pattern.name_ += fmt::format("({})", fmt::join(words, ","));
        return pattern;
    }
    if (is_given != has_value(generator) || (is_given && text[name_end] == '('))
        throw UsageError(fmt::format("{}: {}, as in {}", quote(text),
                                     !has_value(generator) ? "it takes no value"
                                     : is_given            ? "its value stands behind ="
                                                           : "a value is missing",
                                     generator.example));
    if (!is_given) return pattern;
    pattern.values_ = {value_of(generator, text.substr(name_end + 1), text)};
    pattern.name_ += fmt::format("={}{}", pattern.values_[0], generator.suffix);
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

// All of them are verified, and in the file: no more numbers than 32 MiB of it.
int TrafficPattern::draws(int ranks) const {
    constexpr int kUsual = 32;
    constexpr std::int64_t kMostNumbers = 1 << 22U;
    const auto most = static_cast<int>(std::max<std::int64_t>(kMostNumbers / (std::int64_t{ranks} * ranks), 2));
    return std::min(moves() ? ranks : kUsual, most);
}

TrafficMatrix TrafficPattern::matrix(const Layout& layout, std::uint64_t seed, int number) const {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(fmt::format("--traffic {}: {}", quote(name_), why));
    };
    if (layout.ranks() > kMostTrafficRanks)
        refuse(fmt::format(
            "{} ranks, and every rank has the whole matrix, generated or of a file, which has room for {}; "
            "uniform traffic needs none",
            layout.ranks(), kMostTrafficRanks));
    if (of_file_ && of_file_->ranks() != layout.ranks())
        refuse(fmt::format("a matrix of {0} x {0}, and there are {1} ranks", of_file_->ranks(), layout.ranks()));
    const int draws = is_drawn() && layout.ranks() > 1 ? kMostDraws : 1;
    TrafficMatrix matrix(layout.ranks());
    try {
        for (int tries = 0; tries < draws && matrix.total() == 0; ++tries)
            matrix = of_file_ ? *of_file_ : generator_->make(values_, layout, {seed, number, tries});
    } catch (const UsageError& error) {
        refuse(error.what());
    }
    if (matrix.total() == 0)
        refuse(fmt::format("nothing is sent: no rank has a byte for another one{}",
                           draws > 1 ? fmt::format(", in any of {} draws", draws) : ""));
    return matrix;
}

} // namespace a2aperf
