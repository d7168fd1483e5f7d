// SPDX-License-Identifier: BSD-3-Clause
#include "stream_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "duration_workload.hpp"

namespace a2aperf {
namespace {

constexpr int kMostMessages = 2'000'000'000;
constexpr int kMostTicks = 10'000'000;

StreamOptions& own(Options& options) {
    return std::any_cast<StreamOptions&>(options.own);
}

// "10ms" or "10ms/500".
FreeDelay parse_free_delay(std::string_view text) {
    FreeDelay delay;
    const std::size_t slash = text.find('/');
    delay.time = parse_duration(text.substr(0, slash));
    if (delay.time < 0)
        throw UsageError(fmt::format("{} is not a time from zero on", quote(text.substr(0, slash))));
    if (slash != std::string_view::npos) delay.every = parse_count(text.substr(slash + 1), 1, kMostMessages);
    if (delay.time == 0) delay.every = FreeDelay().every; // there is none
    return delay;
}

std::vector<FreeDelay> parse_free_delays(std::span<const std::string> values) {
    return each_once(values, parse_free_delay);
}

std::vector<InjectUse> parse_injects(std::span<const std::string> values) {
    std::vector<InjectUse> uses;
    for (const std::string& item : split_list(values))
        uses.push_back(
            choose<InjectUse>("use of the inject path", item,
                              {{"auto", InjectUse::automatic}, {"on", InjectUse::on}, {"off", InjectUse::off}}));
    return uses;
}

std::vector<CompletionLevel> parse_completions(std::span<const std::string> values) {
    return each_once(values, [](std::string_view text) {
        return choose<CompletionLevel>("completion of a send", text,
                                       {{"default", CompletionLevel::as_provider},
                                        {"transmit", CompletionLevel::transmit},
                                        {"delivery", CompletionLevel::delivery}});
    });
}

std::vector<int> parse_cq_mods(std::span<const std::string> values) {
    return each_once(values, [](std::string_view text) { return parse_int(text, 1, kMostMessages); });
}

// Where the receivers start the transfers no send completes.
void require_completions(const Options& options, std::string_view option) {
    for (const std::string& mode : options.modes)
        if (find_mode(mode).initiator == Initiator::receiver)
            throw UsageError(
                fmt::format("{}: in mode {} the receivers start the transfers, and nothing completes at "
                            "the sender: leave out {}",
                            option, mode, mode));
}

using Values = std::span<const std::string>;

// Of the senders, or of the receivers: their ranks take no turns.
std::string parse_one_nic(const std::string& text) {
    if (names_several_nics(text)) throw UsageError(fmt::format("{} names several NICs: give one", quote(text)));
    return parse_nic(text);
}

constexpr OptionRow kOptions[] = {
    {.name = "pairs",
     .value = "PAIRS",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "neighbours",
     .help =
         "who sends to whom: halves (rank r of the lower half to r + R/2), neighbours (2r to 2r + 1), all-to-one "
         "(to rank 0), one-to-all (from it), loopback (each rank to itself, over the adapter), or ranks as in "
         "0:1,2:3 (default: halves)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).pairs = StreamPairs::parse(v[0]); }},
    {.name = "duplex",
     .section = Section::what,
     .arity = Arity::flag,
     .audience = Audience::daily,
     .help = "each pair in both directions at once; figures are of both together",
     .set = [](Options& o, Values, const Catalogue&) { own(o).is_duplex = true; }},
    {.name = "from",
     .value = "NIC[/PORT]",
     .section = Section::where,
     .example = "mlx5_0/1",
     .help = "adapter of the senders, and its port: with --to two ports of one are a loopback (default: as --nic)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).from = parse_one_nic(v[0]); }},
    {.name = "to",
     .value = "NIC[/PORT]",
     .section = Section::where,
     .example = "mlx5_0/2",
     .help = "adapter of the receivers, and its port (default: as --nic)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).to = parse_one_nic(v[0]); }},
    {.name = "free-delay",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "0,10ms/500",
     .help =
         "pause of the receiver before it frees a buffer, of this length after every N messages: TIME or TIME/N "
         "(N is 1000 unless told; default: 0, none); one that is under way when the duration is over ends with it",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).free_delays = parse_free_delays(v); }},
    {.name = "inject",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "on,off",
     .help = "whether messages go by the provider's inject path, which copies them: on, off, or auto, where they "
             "are small enough (default: auto)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).injects = parse_injects(v); }},
    {.name = "completion",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "default,delivery",
     .help =
         "what the completion of a send means: default (what the provider says), transmit (the message has left) "
         "or delivery (it is in the receiver's memory); with the last two none is injected (default: default)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).completions = parse_completions(v); }},
    {.name = "cq-mod",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "1,16",
     .help = "one message of so many to each receiver asks for the completion of its send, and of the others the "
             "receiver's credit tells; above 1 none is injected (default: 1)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).cq_mods = parse_cq_mods(v); }},
    {.name = "threads",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "one,each",
     .help = "of a loopback: both ends of a rank in one thread, or each in a thread with an endpoint of its own "
             "(default: one)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).threads = parse_threads(v); }},
    {.name = "duration",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "length",
     .example = "200ms",
     .help = "time that each point is measured (default: 1s)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).duration = parse_positive_duration(v[0]); }},
    {.name = "messages",
     .value = "N",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "length",
     .example = "100000",
     .help = "instead of --duration: messages that a rank sends to each of its receivers",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).messages = parse_int(v[0], 1, kMostMessages); }},
    {.name = "trace",
     .section = Section::how,
     .arity = Arity::flag,
     .help = "keep when messages were sent and arrived: an interval ends whenever a rank sees that some have, not "
             "every 0.1 s",
     .set = [](Options& o, Values, const Catalogue&) { own(o).traces = true; }},
    {.name = "max-samples",
     .value = "N",
     .section = Section::how_long,
     .example = "1000",
     .help =
         "intervals that are kept of a point; of those that come after them the totals are kept (default: 1000, "
         "with --trace 20000)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).most_samples = parse_int(v[0], 1, kMostTicks); }},
};

} // namespace

const StreamOptions& stream_options(const Options& options) {
    return std::any_cast<const StreamOptions&>(options.own);
}

std::span<const OptionRow> stream_option_rows() {
    return kOptions;
}

void check_stream_options(const Options& options) {
    require_whole_windows(options, "a stream");
    require_poll_without_pause(options);
    for (const FreeDelay& delay : stream_options(options).free_delays)
        if (delay.time >= options.timeout)
            throw UsageError(fmt::format("--free-delay {} is not below --timeout {}: nothing happens in a pause",
                                         format_duration(delay.time), format_duration(options.timeout)));
    const StreamOptions& asked = stream_options(options);
    if (asked.completions != StreamOptions().completions) require_completions(options, "--completion");
    if (asked.cq_mods != StreamOptions().cq_mods) require_completions(options, "--cq-mod");
    if (stream_options(options).is_duplex && stream_options(options).pairs.is_loopback())
        throw UsageError("--duplex: in a loopback a rank is both ends, and there is one direction");
    if (asked.threads != StreamOptions().threads && !asked.pairs.is_loopback())
        throw UsageError("--threads: only in a loopback a rank is both ends: take --pairs loopback");
    constexpr Format kFormats[] = {Format::table, Format::loopback, Format::csv, Format::json};
    require_format(options, kFormats, "table, loopback, csv, json");
}

} // namespace a2aperf
