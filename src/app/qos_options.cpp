// SPDX-License-Identifier: BSD-3-Clause
#include "qos_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

constexpr int kMostPaths = 1000;
constexpr int kMostIntervals = 1'000'000;
constexpr Nanoseconds kLeastInterval = 100'000'000;

QosOptions& own(Options& options) {
    return std::any_cast<QosOptions&>(options.own);
}

std::vector<AskedPath> paths_of_file(const std::string& file) {
    constexpr Bytes kMostBytes = 1U << 20U;
    const std::string text = read_text_file("--path-file", file, kMostBytes);
    try {
        return parse_path_lines(file, text);
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("--path-file: {}", error.what()));
    }
}

Nanoseconds parse_interval(std::string_view text) {
    const Nanoseconds interval = parse_positive_duration(text);
    if (interval < kLeastInterval)
        throw UsageError(fmt::format("{} is below {}", quote(text), format_duration(kLeastInterval)));
    return interval;
}

using Values = std::span<const std::string>;

constexpr OptionRow kOptions[] = {
    {.name = "path",
     .value = "PATH",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "0:1,size=4096",
     .help = "a path, from one rank to another, and what it has of its own: class=, size=, window=, mode=, "
             "and start=, the time at which it begins; may be given several times, also between the same ranks",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             for (const std::string& text : v) own(o).listed.push_back(AskedPath::parse(text));
         }},
    {.name = "path-file",
     .value = "FILE",
     .section = Section::what,
     .audience = Audience::all,
     .example = "paths.txt",
     .help = "a file with a path a line, as --path has them; what stands behind a # is none",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).file = v[0]; }},
    {.name = "paths",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "3",
     .help = "instead of --path: so many paths from rank 0 to rank 1 (default: 2, or one for each of --classes)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).count = parse_int(v[0], 1, kMostPaths); }},
    {.name = "classes",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "best-effort,best-effort,bulk",
     .help = "class of service of each of the --paths, in their order: best-effort, low-latency, dedicated-access, "
             "bulk, scavenger, network-control, a DSCP as dscp46, or a service level as sl1 (default: none is "
             "asked for)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             for (const std::string& text : v)
                 for (std::size_t begin = 0; begin <= text.size();) {
                     const std::size_t end = std::min(text.find(',', begin), text.size());
                     own(o).classes.push_back(
                         TrafficClass::parse(std::string_view(text).substr(begin, end - begin)));
                     begin = end + 1;
                 }
         }},
    {.name = "duration",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .example = "60s",
     .help = "time that each point is measured (default: 30s)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).duration = parse_positive_duration(v[0]); }},
    {.name = "interval",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .example = "1s",
     .help = "time after which what each path got is noted, 100 ms at least (default: 10s)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).interval = parse_interval(v[0]); }},
    {.name = "max-samples",
     .value = "N",
     .section = Section::how_long,
     .example = "1000",
     .help = "intervals that are kept of a path; those that come after them are counted (default: 10000)",
     .set = [](Options& o, Values v,
               const Catalogue&) { own(o).most_intervals = parse_int(v[0], 1, kMostIntervals); }},
};

void require_known_modes(const std::vector<AskedPath>& paths) {
    for (const AskedPath& path : paths) {
        if (!path.mode) continue;
        try {
            find_mode(*path.mode);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("--path {}:{}: {}", path.from, path.to, error.what()));
        }
    }
}

template <class Member>
bool all_have(const std::vector<AskedPath>& paths, Member member) {
    return std::ranges::all_of(paths, [&](const AskedPath& path) { return (path.*member).has_value(); });
}

} // namespace

const QosOptions& qos_options(const Options& options) {
    return std::any_cast<const QosOptions&>(options.own);
}

std::span<const OptionRow> qos_option_rows() {
    return kOptions;
}

std::vector<AskedPath> asked_paths(const Options& options) {
    const QosOptions& asked = qos_options(options);
    if (!asked.file.empty() && asked.of_file->empty()) *asked.of_file = paths_of_file(asked.file);
    std::vector<AskedPath> named = asked.listed;
    named.insert(named.end(), asked.of_file->begin(), asked.of_file->end());
    if (!named.empty()) return named;
    const std::size_t count = asked.classes.empty() ? 2 : asked.classes.size();
    std::vector<AskedPath> paths(asked.count ? static_cast<std::size_t>(*asked.count) : count);
    for (std::size_t i = 0; i < std::min(paths.size(), asked.classes.size()); ++i)
        paths[i].traffic_class = asked.classes[i];
    return paths;
}

void check_qos_options(const Options& options) {
    const QosOptions& asked = qos_options(options);
    const bool has_named = !asked.listed.empty() || !asked.file.empty();
    if (has_named && asked.count)
        throw UsageError("--paths and --path exclude each other: name all of them by --path");
    if (has_named && !asked.classes.empty())
        throw UsageError("--classes are those of --paths: of a --path write class=");
    const std::vector<AskedPath> paths = asked_paths(options);
    if (!asked.classes.empty() && asked.classes.size() != paths.size())
        throw UsageError(
            fmt::format("--classes: {} of them, and {}", asked.classes.size(), counted(std::ssize(paths), "path")));
    if (std::ssize(paths) > kMostPaths)
        throw UsageError(fmt::format("--path: {} paths, and there may be {}", paths.size(), kMostPaths));
    const auto has_no_use = [&](const char* option, bool is_own) {
        if (is_own && options.is_given(option))
            throw UsageError(fmt::format("--{}: every path has one of its own", option));
    };
    has_no_use("sizes", all_have(paths, &AskedPath::size));
    has_no_use("window", all_have(paths, &AskedPath::window));
    has_no_use("mode", all_have(paths, &AskedPath::mode));
    require_known_modes(paths);
    require_whole_windows(options, "a path");
    for (const AskedPath& path : paths)
        if (path.start >= asked.duration)
            throw UsageError(fmt::format("--path {}:{} begins after {}, and --duration is {}", path.from, path.to,
                                         format_duration(path.start), format_duration(asked.duration)));
    if (asked.interval > asked.duration)
        throw UsageError(fmt::format("--interval {} is longer than --duration {}", format_duration(asked.interval),
                                     format_duration(asked.duration)));
    require_poll_without_pause(options);
    constexpr Format kFormats[] = {Format::table, Format::qos, Format::csv, Format::json};
    require_format(options, kFormats, "table, qos, csv, json");
}

} // namespace a2aperf
