// SPDX-License-Identifier: BSD-3-Clause
#include "interference_options.hpp"

#include <algorithm>
#include <any>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "duration_workload.hpp"

namespace a2aperf {
namespace {

constexpr int kMostAlternations = 1000;
constexpr int kMostWindow = 1024;
constexpr Nanoseconds kLeastPhase = 10'000'000;
constexpr Nanoseconds kLeastGap = 10'000;

InterferenceOptions& own(Options& options) {
    return std::any_cast<InterferenceOptions&>(options.own);
}

Bytes parse_size(std::string_view text) {
    const std::vector<Bytes> sizes = parse_sizes(text, 0);
    if (sizes.size() != 1) throw UsageError(fmt::format("{}: expected one size", quote(std::string(text))));
    return sizes.front();
}

Nanoseconds parse_least(std::string_view text, Nanoseconds least) {
    const Nanoseconds time = parse_positive_duration(text);
    if (time < least) throw UsageError(fmt::format("{} is below {}", quote(text), format_duration(least)));
    return time;
}

using Values = std::span<const std::string>;

constexpr OptionRow kOptions[] = {
    {.name = "victims",
     .value = "PAIRS",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "0:1,2:3",
     .help = "instead of --placement: which client asks which server, of a stream who sends to whom, of an "
             "all-to-all who takes "
             "part; the other ranks are the load",
     .set = [](Options& o, Values v,
               const Catalogue&) { own(o).victims = StreamPairs::parse(v[0], Partners::others, "--victims"); }},
    {.name = "victim-kind",
     .value = "KIND",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "stream",
     .help =
         "what victims do: echo (round trips), stream (messages without a pause, the way of an echo's answers), "
         "all-to-all (each to all others, op after op) (default: echo)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             own(o).victim_kind = choose<VictimKind>("victim-kind", v[0],
                                                     {{"echo", VictimKind::echo},
                                                      {"stream", VictimKind::stream},
                                                      {"all-to-all", VictimKind::all_to_all}});
         }},
    {.name = "victim-window",
     .value = "N",
     .section = Section::what,
     .audience = Audience::all,
     .example = "32",
     .help = "messages of a victim's stream that may be under way, and those that its times are of (default: 8)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).victim_window = parse_int(v[0], 1, kMostWindow); }},
    {.name = "placement",
     .value = "WHERE",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "other",
     .help = "where victims and load are: same (both on each node), other (the first half of the nodes has the "
             "victims, the others have the load), interleaved (nodes in turn) (default: same)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             own(o).placement = choose<Placement>(
                 "placement", v[0],
                 {{"same", Placement::same}, {"other", Placement::other}, {"interleaved", Placement::interleaved}});
         }},
    {.name = "load",
     .value = "PATTERN",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "incast",
     .help = "who of the load ranks sends to whom: all-to-all, incast (all to the first), permutation (each to the "
             "one half of them further), hotspot (both), stream (the second half to the first) (default: "
             "all-to-all)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             own(o).pattern = choose<LoadPattern>("load", v[0],
                                                  {{"all-to-all", LoadPattern::all_to_all},
                                                   {"incast", LoadPattern::incast},
                                                   {"hotspot", LoadPattern::hotspot},
                                                   {"permutation", LoadPattern::permutation},
                                                   {"stream", LoadPattern::stream}});
         }},
    {.name = "levels",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "0,25,50,100",
     .help = "how much of its full rate the load sends, in percent (default: 0,50,100)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             std::vector<int>& levels = own(o).levels;
             levels.clear();
             for (const std::string& item : split_list(v))
                 if (const int level = parse_int(item, 0, 100); std::ranges::find(levels, level) == levels.end())
                     levels.push_back(level);
         }},
    {.name = "load-size",
     .value = "SIZE",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "1MiB",
     .help = "size of the load's messages (default: 64 KiB)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).load_size = parse_size(v[0]); }},
    {.name = "load-window",
     .value = "N",
     .section = Section::what,
     .audience = Audience::all,
     .example = "32",
     .help = "messages from one load rank to another that may be under way (default: 8)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).load_window = parse_int(v[0], 1, kMostWindow); }},
    {.name = "load-class",
     .value = "CLASS",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "bulk",
     .help =
         "class of service of the load's messages: best-effort, low-latency, dedicated-access, bulk, scavenger, "
         "network-control, a DSCP as dscp46, or a service level as sl1 (default: none is asked for)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).load_class = TrafficClass::parse(v[0]); }},
    {.name = "gap",
     .value = "TIME",
     .section = Section::what,
     .audience = Audience::all,
     .example = "1ms",
     .help = "time between two requests of a client or two ops of an all-to-all, or of which a "
             "stream tells the rate; 10 us at least; a request waits for the last answer, too (default: 500us)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).gap = parse_least(v[0], kLeastGap); }},
    {.name = "phase",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .example = "100ms",
     .help =
         "length of a phase, with the load or without, 10 ms at least; its first fifth does not count (default: "
         "500ms)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).phases.length = parse_least(v[0], kLeastPhase); }},
    {.name = "alternations",
     .value = "N",
     .section = Section::how_long,
     .audience = Audience::daily,
     .example = "6",
     .help = "phases of either kind that each point has; an interval needs 6 (default: 10)",
     .set = [](Options& o, Values v,
               const Catalogue&) { own(o).phases.alternations = parse_int(v[0], 1, kMostAlternations); }},
};

} // namespace

const InterferenceOptions& interference_options(const Options& options) {
    return std::any_cast<const InterferenceOptions&>(options.own);
}

std::span<const OptionRow> interference_option_rows() {
    return kOptions;
}

void check_interference_options(const Options& options) {
    const InterferenceOptions& asked = interference_options(options);
    if (asked.victims && asked.placement) throw UsageError("--victims and --placement exclude each other");
    if (asked.victim_window && asked.victim_kind != VictimKind::stream)
        throw UsageError("--victim-window is of streams: it needs --victim-kind stream");
    if (asked.gap >= asked.phases.length)
        throw UsageError(
            "--gap: as long as a phase or longer, so that some phases would have no time of a victim: make --phase "
            "longer or the gap shorter");
    if (asked.victim_kind == VictimKind::stream && asked.gap >= asked.phases.counted())
        throw UsageError("--gap: of a stream it fits into no phase, of which the last 80 % count: make --phase "
                         "longer or the gap shorter");
    require_flow_modes(options, PostedModes::kNames);
    require_poll_without_pause(options);
    constexpr Format kFormats[] = {Format::table, Format::csv, Format::json};
    require_format(options, kFormats, "table, csv, json");
}

} // namespace a2aperf
