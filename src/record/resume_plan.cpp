// SPDX-License-Identifier: BSD-3-Clause
#include "resume_plan.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

std::string shown(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
    return std::visit([](const auto& number) { return fmt::format("{}", number); }, value);
}

struct GivenColumn {
    std::string_view column, option;
};

// Of each column that follows from the command line. First those that add rows of other values.
constexpr GivenColumn kGivenColumns[] = {{"role", "--baseline, --no-sentinel or --sync none"},
                                         {"mode", "--mode"},
                                         {"schedule", "--schedule"},
                                         {"window_bytes", "--window"},
                                         {"window", "--window"},
                                         {"chunk", "--chunk"},
                                         {"endpoints", "--endpoints"},
                                         {"queues", "--queues"},
                                         {"threads", "--threads"},
                                         {"polling", "--poll"},
                                         {"traffic", "--traffic, --redraw"},
                                         {"traffic_digest", "--traffic"},
                                         {"message_size", "--sizes"},
                                         {"distance", "--steps"},
                                         {"provider", "--provider"},
                                         {"post", "--post"},
                                         {"stream_pairs", "--pairs"},
                                         {"duplex", "--duplex"},
                                         {"free_delay", "--free-delay"},
                                         {"free_every", "--free-delay"},
                                         {"asked_inject", "--inject"},
                                         {"completion", "--completion"},
                                         {"cq_mod", "--cq-mod"},
                                         {"traced", "--trace"},
                                         {"memory", "--memory"},
                                         {"echo_pairs", "--pairs, --clients, --servers"},
                                         {"request_size", "--request"},
                                         {"outstanding", "--outstanding"},
                                         {"rate", "--rates"},
                                         {"arrivals", "--arrivals"},
                                         {"relays", "--relays"},
                                         {"asked_relay_time", "--relay-time"},
                                         {"path_list", "--path, --path-file, --paths, --classes"},
                                         {"interval", "--interval"},
                                         {"asked_duration", "--duration"},
                                         {"asked_messages", "--messages"},
                                         {"placement", "--placement, --victims"},
                                         {"victim_pairs", "--victims, --placement"},
                                         {"load_pattern", "--load"},
                                         {"load_level", "--levels"},
                                         {"load_size", "--load-size"},
                                         {"load_window", "--load-window"},
                                         {"load_class", "--load-class"},
                                         {"victim_kind", "--victim-kind"},
                                         {"victim_window", "--victim-window"},
                                         {"request_gap", "--gap"},
                                         {"phase_length", "--phase"},
                                         {"alternations", "--alternations"}};

// " (--sizes)"; nothing where no option decides it.
std::string option_of(std::string_view column) {
    for (const GivenColumn& given : kGivenColumns)
        if (given.column == column) return fmt::format(" ({})", given.option);
    return "";
}

// What may have moved the rows: the first point and the last, and those of the baseline, follow from what is
// skipped.
std::string skipped_here(const Plan& plan) {
    const auto found = std::ranges::find_if(plan.points, [](const Point& point) { return point.is_skipped(); });
    if (found == plan.points.end()) return "";
    return fmt::format("; this launch skips {}, which may be why: {}", found->label(), found->skip_reason);
}

// " (--sizes: 8000 in the file only)", of the first axis on which the plans differ.
std::string axis_that_differs(const ResultsFile& stored, const Plan& plan, const Layout& layout,
                              const std::string& provider) {
    for (const GivenColumn& given : kGivenColumns) {
        const auto& columns = stored.extents.schema.columns;
        const auto column = std::find_if(columns.begin(), columns.end(),
                                         [&](const Column& one) { return one.name == given.column; });
        if (column == columns.end() || !column->is_asked() || !stored.columns.says(*column)) continue;
        std::set<Value> here;
        for (const Point& point : plan.points) here.insert(column->asked({point, layout, provider}));
        const std::vector<Value> values = stored.columns.read(given.column);
        const std::set<Value> there(values.begin(), values.end());
        const auto only = [](const std::set<Value>& in, const std::set<Value>& other) {
            std::vector<std::string> words;
            for (const Value& value : in)
                if (!other.contains(value)) words.push_back(shown(value));
            return fmt::format("{}", fmt::join(words, ", "));
        };
        const std::string gone = only(there, here);
        const std::string added = only(here, there);
        if (gone.empty() && added.empty()) continue;
        return fmt::format(" ({}: {}{}{}{}{})", given.option, gone, gone.empty() ? "" : " in the file only",
                           gone.empty() || added.empty() ? "" : ", ", added,
                           added.empty() ? "" : " in this launch only");
    }
    return "";
}

// Rows whose numbers nothing vouches for: they are measured again, as the plan has them. A repaired file keeps such
// a row as it read; of columns with a wrong checksum the rows that are measured have one of their own.
std::vector<bool> rows_not_vouched_for(const ResultsFile& stored, const ResultsFile::Reliable& kept) {
    std::vector<bool> rows(kept.states.size());
    for (const int point : kept.damaged) rows[static_cast<std::size_t>(point)] = true;
    if (!stored.file.has_attribute("repaired") && kept.asked.empty()) return rows;
    for (std::size_t p = 0; p < rows.size(); ++p) rows[p] = rows[p] || kept.states[p] == State::pending;
    return rows;
}

} // namespace

void refuse_to_resume(const std::filesystem::path& file, const std::string& difference) {
    throw UsageError(fmt::format("{} can't be resumed: {}. Repeat the first launch's arguments, or name a new file "
                                 "with -o",
                                 file.string(), difference));
}

void require_same_extents(const std::filesystem::path& file, const ResultsFile& stored, const Plan& plan,
                          const Layout& layout, const std::string& provider) {
    if (stored.extents.points != static_cast<int>(plan.points.size()))
        refuse_to_resume(file, fmt::format("it has {} points and this launch {}{}", stored.extents.points,
                                           plan.points.size(),
                                           axis_that_differs(stored, plan, layout, provider) + skipped_here(plan)));
    if (stored.extents.ranks != layout.ranks())
        refuse_to_resume(file, fmt::format("it was measured with {} ranks and this launch has {}",
                                           stored.extents.ranks, layout.ranks()));
}

std::vector<std::string> require_same_rows(const std::filesystem::path& file, const ResultsFile& stored,
                                           const ResultsFile::Reliable& kept, const Plan& plan,
                                           const Layout& layout, const std::string& provider) {
    const std::vector<bool> open = rows_not_vouched_for(stored, kept);
    std::vector<std::string> replaced;
    for (std::size_t i = 0; i < stored.extents.schema.columns.size(); ++i) {
        const Column& column = stored.extents.schema.columns[i];
        if (!column.is_asked() || column.name == "skip_reason" || !stored.columns.says(column)) continue;
        const std::vector<Value> there = stored.columns.read(i);
        const bool is_damaged = std::ranges::find(kept.asked, column.name) != kept.asked.end();
        bool is_replaced = false;
        for (std::size_t p = 0; p < there.size(); ++p) {
            const Value here = column.asked({plan.points[p], layout, provider});
            if (there[p] == here) continue;
            if (!open[p] || column.kind == ValueType::text) // texts are the digest's
                refuse_to_resume(file, fmt::format("point {} has {} {} in the file and {} in this launch{}", p,
                                                   column.name, shown(there[p]), shown(here),
                                                   option_of(column.name) + skipped_here(plan)));
            is_replaced |= is_damaged && std::ranges::find(kept.damaged, static_cast<int>(p)) == kept.damaged.end();
        }
        if (is_replaced) replaced.emplace_back(column.name);
    }
    return replaced;
}

} // namespace a2aperf
