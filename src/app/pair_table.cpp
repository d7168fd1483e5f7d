// SPDX-License-Identifier: BSD-3-Clause
#include "pair_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/record/record_writer.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kNothing = "—";
constexpr std::size_t kMostSuspects = 10;     // in words; the file has all
constexpr int kMostRanksOfMatrix = 8;         // that fit a line
constexpr Bytes kLeastForBandwidth = 8 << 10; // below it a time says more than a rate

std::string number(double value) {
    if (std::isnan(value)) return std::string(kNothing);
    return fmt::format("{:.{}f}", value, std::abs(value) < 10 ? 3 : std::abs(value) < 1000 ? 2 : 0);
}

// Measured ones, fastest first.
std::vector<PairTime> by_time(const PairReport& report) {
    std::vector<PairTime> pairs;
    std::copy_if(report.verdict.pairs.begin(), report.verdict.pairs.end(), std::back_inserter(pairs),
                 [](const PairTime& pair) { return pair.p50 > 0; });
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const PairTime& left, const PairTime& right) { return left.p50 < right.p50; });
    return pairs;
}

std::string cells(Bytes message_size, double time) {
    return fmt::format(" {:>10} {:>8}", number(time * kMicroseconds), number(pair_gbps(message_size, time)));
}

std::string cells(Bytes message_size, const PairTime& pair) {
    const std::string ends = fmt::format("{} > {}", pair.source, pair.destination);
    return fmt::format("{}  {:<11}", cells(message_size, pair.p50), ends);
}

} // namespace

std::string PairTable::who(Rank rank) const {
    return fmt::format("rank {} ({})", rank, hosts_[static_cast<std::size_t>(rank)]);
}

// "rank 3 (node017) -> rank 5 (node021): 0.48 of what its sender and receiver reach with others; alone 0.51"
std::string PairTable::words(const PairReport& report, std::size_t index) const {
    const Suspect& suspect = report.verdict.suspects[index];
    const Rank source = suspect.pair.source;
    const Rank destination = suspect.pair.destination;
    const double isolated = suspect.expected / report.isolated[index];
    const bool is_within = layout_.nodes() > 1 && layout_.node_of(source) == layout_.node_of(destination);
    const char* where = is_within ? " within its node" : "";
    const auto again = [&](const std::string& with) {
        return std::isnan(isolated) ? std::string() : fmt::format("; alone{} {:.2f}", with, isolated);
    };
    switch (suspect.weakness) {
    case Weakness::sender:
        return fmt::format("{} sends{} at {:.2f} of the others' rate{}", who(source), where, suspect.share,
                           again(fmt::format(" to {}", who(destination))));
    case Weakness::receiver:
        return fmt::format("{} receives{} at {:.2f} of the others' rate{}", who(destination), where, suspect.share,
                           again(fmt::format(" from {}", who(source))));
    case Weakness::pair:
        return fmt::format("{} → {}: {:.2f} of the rate of its sender and receiver with others{}", who(source),
                           who(destination), suspect.share, again(""));
    }
    return {};
}

std::string PairTable::summary_row(const PairReport& report) const {
    const std::vector<PairTime> pairs = by_time(report);
    std::string line = fmt::format("{:>9} {:>8}", report.message_size, pairs.size());
    if (pairs.empty()) return line + fmt::format("  nothing was measured\n");
    line += cells(report.message_size, pairs[(pairs.size() - 1) / 2].p50) + "  ";
    line += cells(report.message_size, pairs.front()) + cells(report.message_size, pairs.back());
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

// Sources are rows, destinations columns.
std::string PairTable::matrix(const PairReport& report) const {
    const bool is_rate = report.message_size >= kLeastForBandwidth;
    std::map<std::pair<Rank, Rank>, double> times;
    for (const PairTime& pair : report.verdict.pairs) times[{pair.source, pair.destination}] = pair.p50;
    std::string text = fmt::format("\n{} B, {}, from the rank of the row to the rank of the column\n       ",
                                   report.message_size, is_rate ? "Gbit/s" : "µs");
    for (Rank column = 0; column < layout_.ranks(); ++column) text += fmt::format(" {:>9}", column);
    text += "\n";
    for (Rank row = 0; row < layout_.ranks(); ++row) {
        text += fmt::format("{:>7}", row);
        for (Rank column = 0; column < layout_.ranks(); ++column) {
            const auto found = times.find({row, column});
            const double time = found != times.end() ? found->second : kAbsent;
            text += fmt::format(" {:>9}",
                                number(is_rate ? pair_gbps(report.message_size, time) : time * kMicroseconds));
        }
        text += "\n";
    }
    return text;
}

std::string PairTable::table(const std::vector<PairReport>& sizes) const {
    std::string text = facts_.oversubscription.empty() ? "" : fmt::format("# {}\n", facts_.oversubscription);
    text +=
        fmt::format("# {}, {} ranks on {} node{}; one way, medians of {} ops; start: {}\n", facts_.provider,
                    layout_.ranks(), layout_.nodes(), layout_.nodes() == 1 ? "" : "s", facts_.ops, facts_.start);
    text += fmt::format("{:>9} {:>8} {:>10} {:>8}   {:>10} {:>8}  {:<11} {:>10} {:>8}  {}\n", "msg (B)", "pairs",
                        "median µs", "Gbit/s", "fastest µs", "Gbit/s", "ranks", "slowest µs", "Gbit/s", "ranks");
    for (const PairReport& report : sizes) text += summary_row(report);
    if (layout_.ranks() <= kMostRanksOfMatrix)
        for (const PairReport& report : sizes)
            if (!by_time(report).empty()) text += matrix(report);
    text += "\n";
    for (const PairReport& report : sizes) {
        const std::size_t count = report.verdict.suspects.size();
        const auto untold =
            std::count_if(report.verdict.pairs.begin(), report.verdict.pairs.end(),
                          [](const PairTime& pair) { return pair.ops > 0 && std::isnan(pair.p50); });
        if (untold > 0)
            text += fmt::format("{} B: {} of {} pairs have no time: it is not above what the clocks err\n",
                                report.message_size, untold, report.verdict.pairs.size());
        if (by_time(report).empty()) continue; // its row says so
        if (!facts_.oversubscription.empty())
            text += fmt::format("{} B: no pair is judged: the ranks are oversubscribed\n", report.message_size);
        else if (count == 0)
            text += fmt::format("{} B: {}\n", report.message_size,
                                report.verdict.is_judged
                                    ? "nothing stands out"
                                    : "not judged: there are too few pairs to tell one from the others");
        for (std::size_t i = 0; i < std::min(count, kMostSuspects); ++i)
            text += fmt::format("{} B: {}\n", report.message_size, words(report, i));
        if (count > kMostSuspects)
            text += fmt::format("{} B: and {} more\n", report.message_size, count - kMostSuspects);
    }
    return text;
}

std::string PairTable::records(Format format, const std::vector<PairReport>& sizes) const {
    RecordWriter writer(format == Format::json,
                        {"message_size", "source", "destination", "source_node", "destination_node", "ops",
                         "time_p50", "time_min", "gbps", "share", "isolated_gbps"});
    std::string text = writer.header();
    for (const PairReport& report : sizes) {
        std::map<std::pair<Rank, Rank>, double> isolated;
        for (std::size_t i = 0; i < report.isolated.size(); ++i) {
            const PairTime& pair = report.verdict.suspects[i].pair;
            isolated[{pair.source, pair.destination}] = report.isolated[i];
        }
        for (std::size_t i = 0; i < report.verdict.pairs.size(); ++i) {
            const PairTime& pair = report.verdict.pairs[i];
            const auto found = isolated.find({pair.source, pair.destination});
            const std::array<std::optional<Value>, 11> fields{
                std::int64_t(report.message_size),
                std::int64_t{pair.source},
                std::int64_t{pair.destination},
                hosts_[static_cast<std::size_t>(pair.source)],
                hosts_[static_cast<std::size_t>(pair.destination)],
                std::int64_t{pair.ops},
                known(pair.p50),
                known(pair.min),
                known(pair_gbps(report.message_size, pair.p50)),
                known(report.verdict.expected[i] / pair.p50),
                known(pair_gbps(report.message_size, found != isolated.end() ? found->second : kAbsent))};
            text += writer.row(fields);
        }
    }
    return text + writer.footer();
}

std::string PairTable::text(Format format, const std::vector<PairReport>& sizes) const {
    return format == Format::csv || format == Format::json ? records(format, sizes) : table(sizes);
}

} // namespace a2aperf
