// SPDX-License-Identifier: BSD-3-Clause
#include "app/pair_table.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

constexpr int kTableRanks = 4;

// 1 µs a byte; from 3 to 1 four times as long.
PairReport report_of(Bytes size) {
    std::vector<PairTime> pairs;
    for (Rank source = 0; source < kTableRanks; ++source)
        for (Rank destination = 0; destination < kTableRanks; ++destination) {
            if (source == destination) continue;
            const double time = 1000.0 * static_cast<double>(size);
            pairs.push_back({source, destination, 10, time, time / 2});
        }
    PairReport report{size, {}, {}};
    report.verdict.pairs = pairs;
    report.verdict.is_judged = true;
    report.verdict.expected.assign(pairs.size(), 1000.0 * static_cast<double>(size));
    report.verdict.pairs[10].p50 *= 4; // 3 > 1
    return report;
}

PairTable table(int nodes = 2) {
    return {Layout::blocks(kTableRanks, kTableRanks / nodes),
            {"a", "a", "b", "b"},
            {"tcp", 10, "clock, synchronised to 5 ns"}};
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::ptrdiff_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

} // namespace

TEST_CASE("a line for every size, the matrix, and that nothing stands out") {
    const std::string text = table().text(Format::table, {report_of(8), report_of(100'000)});
    CAPTURE(text);
    CHECK(text.starts_with(
        "# tcp, 4 ranks on 2 nodes; one way, medians of 10 ops; start: clock, synchronised to 5 ns\n"));
    CHECK(has(text, "3 > 1"));
    CHECK(has(text, "8 B, µs, from the rank"));
    CHECK(has(text, "100000 B, Gbit/s, from the rank"));
    CHECK(has(text, "8 B: nothing stands out\n"));
    CHECK(has(text, "      8       12      8.000    0.008"));
}

TEST_CASE("of a size of which nothing was measured nothing is said but that") {
    PairReport none = report_of(64);
    for (PairTime& pair : none.verdict.pairs) pair = {pair.source, pair.destination};
    const std::string text = table().text(Format::table, {report_of(8), none});
    CAPTURE(text);
    CHECK(has(text, "8 B: nothing stands out\n"));
    CHECK_FALSE(has(text, "64 B: nothing stands out"));
    CHECK_FALSE(has(text, "64 B, µs, from the rank"));
}

TEST_CASE("of too few pairs it is not said that nothing stands out") {
    PairReport few = report_of(8);
    few.verdict.is_judged = false;
    const std::string text = table().text(Format::table, {few});
    CHECK(has(text, "8 B: not judged: there are too few pairs to tell one from the others\n"));
    CHECK_FALSE(has(text, "stands out"));
}

TEST_CASE("what stands out is said in words, with what became of it alone") {
    PairReport report = report_of(1000);
    const auto suspect = [&](Weakness weakness, Rank source, Rank destination, double share, double isolated) {
        report.verdict.suspects.push_back({weakness, {source, destination, 10, 2e6, 2e6}, 1e6, share});
        report.isolated.push_back(isolated);
    };
    suspect(Weakness::sender, 2, 0, 0.5, 2e6);
    suspect(Weakness::receiver, 0, 3, 0.6, 1e6);
    suspect(Weakness::pair, 3, 1, 0.25, kAbsent);
    suspect(Weakness::sender, 0, 1, 0.7, 1e6);
    const std::string text = table().text(Format::table, {report});
    CAPTURE(text);
    CHECK(has(text, "1000 B: rank 2 (b) sends at 0.50 of the others' rate; alone to rank 0 (a) 0.50\n"));
    CHECK(has(text, "1000 B: rank 3 (b) receives at 0.60 of the others' rate; alone from rank 0 (a) 1.00\n"));
    CHECK(has(text, "1000 B: rank 3 (b) → rank 1 (a): 0.25 of the rate of its sender and receiver with others\n"));
    CHECK(has(text, "rank 0 (a) sends within its node at 0.70"));
    CHECK_FALSE(has(text, "nothing stands out"));
}

TEST_CASE("where ranks share cores that is said first, and nothing is said of what stands out") {
    const PairTable shared(Layout::blocks(kTableRanks, kTableRanks), {"a", "a", "a", "a"},
                           {"tcp", 10, "barrier", "oversubscribed: 4 ranks on 2 cores"});
    const std::string text = shared.text(Format::table, {report_of(1000)});
    CAPTURE(text);
    CHECK(text.starts_with("# oversubscribed: 4 ranks on 2 cores\n# tcp, 4 ranks"));
    CHECK(has(text, "1000 B: no pair is judged: the ranks are oversubscribed\n"));
    CHECK_FALSE(has(text, "stands out"));
}

TEST_CASE("ten of many are told, the others counted") {
    PairReport report = report_of(1000);
    for (int i = 0; i < 13; ++i) {
        report.verdict.suspects.push_back({Weakness::pair, {0, 1, 10, 2e6, 2e6}, 1e6, 0.5});
        report.isolated.push_back(kAbsent);
    }
    const std::string text = table().text(Format::table, {report});
    CHECK(has(text, "1000 B: and 3 more\n"));
}

TEST_CASE("a size without a pair says so") {
    PairReport report{1000, {}, {}};
    CHECK(has(table().text(Format::table, {report}), "nothing was measured"));
}

TEST_CASE("csv and json: a pair to a line, unknown figures empty or null") {
    PairReport report = report_of(1000);
    report.verdict.suspects.push_back({Weakness::pair, report.verdict.pairs[10], 1e6, 0.25});
    report.isolated.push_back(2e6);
    report.verdict.pairs[0].p50 = kAbsent;
    const std::string csv = table().text(Format::csv, {report});
    CAPTURE(csv);
    CHECK(lines(csv) == 13);
    CHECK(has(csv, "\n1000,0,1,a,a,10,,500000,,,\n"));
    CHECK(has(csv, "\n1000,0,2,a,b,10,1000000,500000,0.008,1,\n"));
    CHECK(has(csv, "\n1000,3,1,b,a,10,4000000,500000,0.002,0.25,0.004\n"));
    const std::string json = table().text(Format::json, {report});
    CAPTURE(json);
    CHECK(lines(json) == 14);
    CHECK(json.starts_with(
        "[\n  {\"message_size\": 1000, \"source\": 0, \"destination\": 1, \"source_node\": \"a\","));
    CHECK(has(json, "\"time_p50\": null"));
    CHECK(json.ends_with("}\n]\n"));
}

TEST_CASE("csv and json quote a node's name where they must") {
    const PairTable odd{Layout::blocks(kTableRanks, 2), {"a,1", "a,1", "b\t\"", "b\t\""}, {"tcp", 10, "clock"}};
    CHECK(has(odd.text(Format::csv, {report_of(1000)}), "\n1000,0,2,\"a,1\",\"b\t\"\"\",10,"));
    CHECK(has(odd.text(Format::json, {report_of(1000)}),
              R"("source_node": "a,1", "destination_node": "b\u0009\"", "ops": 10)"));
}
