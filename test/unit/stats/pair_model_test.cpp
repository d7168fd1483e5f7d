// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/pair_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;

namespace {

constexpr double kUsual = 1e6; // ns

// Off the diagonal; 1 % of noise, as sums of 12 uniform values less 6 are nearly normal.
std::vector<PairTime> matrix(int ranks, const std::function<double(Rank, Rank)>& factor, std::uint64_t seed = 1,
                             double noise = 0.01) {
    Random random(seed);
    std::vector<PairTime> pairs;
    for (Rank source = 0; source < ranks; ++source)
        for (Rank destination = 0; destination < ranks; ++destination) {
            if (source == destination) continue;
            double normal = -6;
            for (int i = 0; i < 12; ++i) normal += static_cast<double>(random.below(1'000'000)) * 1e-6;
            const double time = kUsual * factor(source, destination) * std::exp(noise * normal);
            pairs.push_back({source, destination, 10, time, time});
        }
    return pairs;
}

double alike(Rank /*source*/, Rank /*destination*/) {
    return 1;
}

std::vector<Suspect> suspects_of(const std::vector<PairTime>& pairs, int ranks) {
    return find_suspects(pairs, fit_pairs(pairs, ranks));
}

} // namespace

TEST_CASE("without noise the fit gives back what went in") {
    const auto truth = [](Rank source, Rank destination) {
        return (source == 3 ? 2.0 : 1.0) * (destination == 1 ? 1.5 : 1.0);
    };
    const auto pairs = matrix(8, truth, 1, 0);
    const PairModel model = fit_pairs(pairs, 8);
    CHECK(std::exp(model.overall) == doctest::Approx(kUsual));
    for (Rank rank = 0; rank < 8; ++rank) {
        CAPTURE(rank);
        const auto at = static_cast<std::size_t>(rank);
        CHECK(std::exp(model.sender[at]) == doctest::Approx(rank == 3 ? 2 : 1));
        CHECK(std::exp(model.receiver[at]) == doctest::Approx(rank == 1 ? 1.5 : 1));
        CHECK(model.expected_of_sender(rank) == doctest::Approx(kUsual * (rank == 3 ? 2 : 1)));
        CHECK(model.expected_of_receiver(rank) == doctest::Approx(kUsual * (rank == 1 ? 1.5 : 1)));
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK(std::abs(model.residual[i]) < 1e-6);
        CHECK(model.expected(pairs[i]) == doctest::Approx(pairs[i].p50));
    }
}

TEST_CASE("equal ranks are not suspected") {
    for (const int ranks : {2, 3, 4, 5, 8, 20})
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            CAPTURE(ranks);
            CAPTURE(seed);
            CHECK(suspects_of(matrix(ranks, alike, seed), ranks).empty());
        }
}

TEST_CASE("a slow sender is named, with a pair to look at again") {
    for (const int ranks : {4, 5, 8, 20}) {
        CAPTURE(ranks);
        const auto pairs = matrix(ranks, [](Rank source, Rank) { return source == 2 ? 2.0 : 1.0; });
        const auto suspects = suspects_of(pairs, ranks);
        REQUIRE(suspects.size() == 1);
        CHECK(suspects[0].weakness == Weakness::sender);
        CHECK(suspects[0].pair.source == 2);
        CHECK(suspects[0].share == doctest::Approx(0.5).epsilon(0.05));
        CHECK(suspects[0].expected == doctest::Approx(kUsual).epsilon(0.05));
    }
}

TEST_CASE("a slow receiver is named") {
    const auto pairs = matrix(6, [](Rank, Rank destination) { return destination == 0 ? 1.25 : 1.0; });
    const auto suspects = suspects_of(pairs, 6);
    REQUIRE(suspects.size() == 1);
    CHECK(suspects[0].weakness == Weakness::receiver);
    CHECK(suspects[0].pair.destination == 0);
    CHECK(suspects[0].share == doctest::Approx(0.8).epsilon(0.05));
}

TEST_CASE("a slow pair is named, and its ranks are not") {
    for (const int ranks : {4, 5, 8, 20}) {
        CAPTURE(ranks);
        const auto pairs = matrix(
            ranks, [](Rank source, Rank destination) { return source == 1 && destination == 3 ? 4.0 : 1.0; });
        const auto suspects = suspects_of(pairs, ranks);
        REQUIRE(suspects.size() == 1);
        CHECK(suspects[0].weakness == Weakness::pair);
        CHECK(suspects[0].pair.source == 1);
        CHECK(suspects[0].pair.destination == 3);
        CHECK(suspects[0].share == doctest::Approx(0.25).epsilon(0.05));
    }
}

TEST_CASE("slow ranks come before slow pairs, the slowest first") {
    const auto pairs = matrix(12, [](Rank source, Rank destination) {
        const double sender = source == 4 ? 1.5 : source == 7 ? 3.0 : 1.0;
        return sender * (source == 0 && destination == 1 ? 10.0 : 1.0) *
               (source == 2 && destination == 9 ? 2.0 : 1.0);
    });
    const auto suspects = suspects_of(pairs, 12);
    REQUIRE(suspects.size() == 4);
    CHECK(suspects[0].pair.source == 7);
    CHECK(suspects[1].pair.source == 4);
    CHECK(suspects[2].weakness == Weakness::pair);
    CHECK(suspects[2].pair.source == 0);
    CHECK(suspects[3].pair.source == 2);
}

TEST_CASE("less than 10 % is nothing to name, however sure it is") {
    const auto pairs = matrix(
        8, [](Rank source, Rank) { return source == 2 ? 1.08 : 1.0; }, 1, 1e-4);
    CHECK(suspects_of(pairs, 8).empty());
}

TEST_CASE("missing cells are no trouble") {
    auto pairs = matrix(10, [](Rank source, Rank) { return source == 2 ? 2.0 : 1.0; });
    // Half of the steps, as a sample of them; one cell without a valid op, one that no clock can have seen.
    std::erase_if(pairs, [](const PairTime& pair) { return (pair.destination - pair.source + 10) % 2 == 0; });
    pairs[0].p50 = kAbsent;
    pairs[7].p50 = -3;
    const PairModel model = fit_pairs(pairs, 10);
    CHECK(std::isnan(model.residual[0]));
    CHECK(std::isnan(model.residual[7]));
    const auto suspects = find_suspects(pairs, model);
    REQUIRE(suspects.size() == 1);
    CHECK(suspects[0].pair.source == 2);
}

TEST_CASE("ranks without a cell have no effect, and no cells no model") {
    auto pairs = matrix(6, alike);
    std::erase_if(pairs, [](const PairTime& pair) { return pair.source == 5 || pair.destination == 5; });
    const PairModel model = fit_pairs(pairs, 6);
    CHECK(std::isnan(model.sender[5]));
    CHECK(std::isnan(model.receiver[5]));
    CHECK_FALSE(std::isnan(model.sender[4]));
    CHECK(std::isnan(fit_pairs({}, 4).overall));
    CHECK(find_suspects({}, fit_pairs({}, 4)).empty());
}

TEST_CASE("pairs within nodes are judged among themselves") {
    const Layout layout = Layout::blocks(8, 4);
    const auto pairs = matrix(8, [&](Rank source, Rank destination) {
        if (layout.node_of(source) == layout.node_of(destination)) return 0.05;
        return source == 1 && destination == 6 ? 2.0 : 1.0;
    });
    const PairVerdict verdict = judge_pairs(pairs, layout);
    CHECK(verdict.pairs.size() == 56);
    REQUIRE(verdict.expected.size() == 56);
    for (std::size_t i = 0; i < 56; ++i) {
        CAPTURE(i);
        const double usual = i < 24 ? 0.05 * kUsual : kUsual;
        CHECK(verdict.expected[i] == doctest::Approx(usual).epsilon(0.1));
    }
    REQUIRE(verdict.suspects.size() == 1);
    CHECK(verdict.suspects[0].pair.source == 1);
    CHECK(verdict.suspects[0].pair.destination == 6);
}

TEST_CASE("with two cells to a rank a slow pair is seen, its end is not told") {
    const auto pairs =
        matrix(3, [](Rank source, Rank destination) { return source == 0 && destination == 2 ? 3.0 : 1.0; });
    const auto suspects = suspects_of(pairs, 3);
    REQUIRE(suspects.size() == 1);
    CHECK(suspects[0].weakness == Weakness::pair);
    CHECK(suspects[0].pair.source == 0);
    CHECK(suspects[0].pair.destination == 2);
    const auto two = matrix(2, [](Rank source, Rank) { return source == 0 ? 3.0 : 1.0; });
    CHECK(suspects_of(two, 2).empty()); // which of two is the odd one?
}

TEST_CASE("few pairs are judged where one of them can stand out") {
    const auto usual = [](Rank, Rank) { return 1.0; };
    CHECK(judge_pairs(matrix(3, usual), Layout::blocks(3, 3)).is_judged);
    CHECK_FALSE(judge_pairs(matrix(2, usual), Layout::blocks(2, 2)).is_judged);
    // Two within a node, four between nodes.
    CHECK(judge_pairs(matrix(3, usual), Layout::blocks(3, 2)).is_judged);
    for (std::size_t n = 2; n <= 6; ++n) {
        CAPTURE(n);
        std::vector<PairTime> pairs = matrix(3, usual);
        pairs.resize(n);
        pairs.back().p50 *= 5;
        const PairModel model = fit_pairs(pairs, 3);
        CHECK(find_suspects(pairs, model).empty() != model.is_judged);
    }
}
