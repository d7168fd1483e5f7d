// SPDX-License-Identifier: BSD-3-Clause
#include "qos_columns.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "a2aperf/stats/carried.hpp"
#include "a2aperf/stats/shares.hpp"

namespace a2aperf {
namespace {

double messages_in(const SharedPart& shared) {
    return static_cast<double>(std::accumulate(shared.messages.begin(), shared.messages.end(), std::int64_t{0}));
}

double bytes_in(const SharedPart& shared, const Point& point) {
    const std::vector<double> bytes = shared.bytes(paths_of(point).paths);
    return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

// What the shared part of a point tells.
struct Told {
    const SharedPart& shared;
    const Point& point;
    double time; // NaN where the start does not carry it
};
using OfShared = double (*)(const Told& told);

std::function<double(const Samples&, const Point&, const Layout&)> of_shared(OfShared of) {
    return [of](const Samples& samples, const Point& point, const Layout&) {
        const SharedPart shared = shared_part_of(samples, point);
        return of({shared, point, time_of(shared, samples.clock_error_ns)});
    };
}

GroupColumn of_path(std::string name, ValueType type, std::string units, std::string long_name,
                    bool has_unknown = false) {
    return {.name = std::move(name),
            .type = type,
            .dimensions = {"path"},
            .units = std::move(units),
            .long_name = std::move(long_name),
            .has_unknown = has_unknown};
}

constexpr const char* kTrouble = "class_trouble";

GroupColumn late(GroupColumn column) {
    column.is_late = true;
    return column;
}

GroupColumn of_interval(std::string name, std::string units, std::string long_name) {
    return {.name = std::move(name),
            .type = ValueType::int64,
            .dimensions = {"path", "interval"},
            .units = std::move(units),
            .long_name = std::move(long_name),
            .has_unknown = true,
            .is_compressed = true};
}

GroupColumn known_text(std::string name, std::string long_name, std::vector<std::string> texts) {
    GroupColumn column = of_path(std::move(name), ValueType::text, "", std::move(long_name));
    column.texts = std::move(texts);
    return column;
}

// One value a path.
template <class Of>
GroupCells cells_of(const PathsPlan& plan, std::string column, Of of) {
    GroupCells cells{std::move(column), {}, std::vector<std::int64_t>()};
    for (std::size_t i = 0; i < plan.paths.size(); ++i) {
        cells.places.push_back(static_cast<std::uint64_t>(plan.first_row) + i);
        std::get<std::vector<std::int64_t>>(cells.values).push_back(of(i));
    }
    return cells;
}

// One value of an interval of a path.
template <class Of>
GroupCells cells_along(const PathsPlan& plan, const std::vector<std::vector<PathInterval>>& all, std::string column,
                       Of of) {
    GroupCells cells{std::move(column), {}, std::vector<std::int64_t>()};
    for (std::size_t path = 0; path < all.size(); ++path)
        for (std::size_t i = 0; i < all[path].size(); ++i) {
            cells.places.insert(cells.places.end(), {static_cast<std::uint64_t>(plan.first_row) + path, i});
            std::get<std::vector<std::int64_t>>(cells.values).push_back(of(path, all[path][i]));
        }
    return cells;
}

// Line `line` of what a rank said; empty where it said nothing.
std::string line_of(const std::string& told, std::size_t line) {
    std::istringstream lines(told);
    std::string text;
    for (std::size_t i = 0; i <= line && std::getline(lines, text); ++i) {
    }
    return lines ? text : std::string();
}

// What became of the paths' classes: the sending rank says what was granted, or why not, and over which port it
// sends, and the receiving one what it has seen.
std::vector<GroupCells> classes_of(const PathsPlan& plan, const std::vector<std::string>& told) {
    std::vector<std::string> granted, seen, ports, troubles;
    std::vector<std::uint64_t> places;
    for (std::size_t path = 0; path < plan.paths.size(); ++path) {
        const Path& one = plan.paths[path];
        granted.push_back(line_of(told.at(static_cast<std::size_t>(one.from)), path));
        seen.push_back(line_of(told.at(static_cast<std::size_t>(one.to)), plan.paths.size() + path));
        ports.push_back(line_of(told.at(static_cast<std::size_t>(one.from)), 2 * plan.paths.size() + path));
        troubles.push_back(line_of(told.at(static_cast<std::size_t>(one.from)), 3 * plan.paths.size() + path));
        places.push_back(static_cast<std::uint64_t>(plan.first_row) + path);
    }
    return {{"class_granted", places, std::move(granted)},
            {"class_verified", places, std::move(seen)},
            {"port", places, std::move(ports)},
            {kTrouble, places, std::move(troubles)}};
}

std::vector<GroupCells> cells(const Point& point, const PointResult& result, const std::vector<int>& index_of_row) {
    const PathsPlan& plan = paths_of(point);
    const std::vector<Path>& paths = plan.paths;
    const auto intervals = intervals_of(result.samples, point);
    const std::vector<std::int64_t>& cpus = result.samples.own.at("rank_cpu");
    const auto first = static_cast<std::size_t>(plan.first_row);
    std::vector<GroupCells> all{
        cells_of(plan, "of_point", [&](std::size_t i) { return std::int64_t{index_of_row[first + i]}; }),
        cells_of(plan, "number", [](std::size_t i) { return static_cast<std::int64_t>(i); }),
        cells_of(plan, "source", [&](std::size_t i) { return std::int64_t{paths[i].from}; }),
        cells_of(plan, "destination", [&](std::size_t i) { return std::int64_t{paths[i].to}; }),
        cells_of(plan, "message_size", [&](std::size_t i) { return static_cast<std::int64_t>(paths[i].size); }),
        cells_of(plan, "window", [&](std::size_t i) { return std::int64_t{paths[i].window}; }),
        cells_of(plan, "core", [&](std::size_t i) { return cpus[static_cast<std::size_t>(paths[i].from)]; }),
        cells_of(plan, "start", [&](std::size_t i) { return paths[i].start; }),
        cells_of(plan, "connected", [&](std::size_t i) { return paths[i].start; }),
        cells_along(plan, intervals, "interval_begin", [](std::size_t, const auto& one) { return one.begin; }),
        cells_along(plan, intervals, "interval_length", [](std::size_t, const auto& one) { return one.length; }),
        cells_along(plan, intervals, "interval_bytes",
                    [&](std::size_t path, const auto& one) {
                        return one.messages * static_cast<std::int64_t>(paths[path].size);
                    }),
        cells_along(plan, intervals, "interval_messages",
                    [](std::size_t, const auto& one) { return one.messages; }),
        cells_along(plan, intervals, "interval_idle", [](std::size_t, const auto& one) { return one.idle; }),
    };
    if (result.told.empty()) return all; // of a launch that was killed: what it said is in the file
    for (GroupCells& one : classes_of(plan, result.told)) all.push_back(std::move(one));
    return all;
}

} // namespace

std::vector<std::vector<PathInterval>> intervals_of(const Samples& samples, const Point& point) {
    const PathsPlan& plan = paths_of(point);
    return path_intervals(samples, plan.paths, plan.ticks());
}

std::vector<std::vector<PathInterval>> stored_intervals(const Recorder& recorder, const Point& point, int most) {
    const PathsPlan& plan = paths_of(point);
    std::vector<std::vector<PathInterval>> all;
    for (std::size_t path = 0; path < plan.paths.size(); ++path) {
        std::vector<std::uint64_t> places;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(most); ++i)
            places.insert(places.end(), {static_cast<std::uint64_t>(plan.first_row) + path, i});
        const auto read = [&](const char* column) { return recorder.read(column, places); };
        const std::vector<double> begin = read("interval_begin"), length = read("interval_length"),
                                  messages = read("interval_messages"), idle = read("interval_idle");
        std::vector<PathInterval>& intervals = all.emplace_back();
        for (std::size_t i = 0; i < begin.size() && begin[i] >= 0; ++i)
            intervals.push_back({static_cast<Nanoseconds>(begin[i]), static_cast<Nanoseconds>(length[i]),
                                 static_cast<std::int64_t>(messages[i]), static_cast<Nanoseconds>(idle[i])});
    }
    return all;
}

std::vector<PathClass> stored_classes(const Recorder& recorder, const Point& point) {
    const PathsPlan& plan = paths_of(point);
    const std::vector<std::string> granted = recorder.read_texts("class_granted"),
                                   seen = recorder.read_texts("class_verified"),
                                   troubles = recorder.read_texts(kTrouble);
    std::vector<PathClass> all;
    for (std::size_t path = 0; path < plan.paths.size(); ++path) {
        const std::size_t row = static_cast<std::size_t>(plan.first_row) + path;
        all.push_back({granted.at(row), seen.at(row), troubles.at(row)});
    }
    return all;
}

double time_of(const SharedPart& shared, double clock_error_ns) {
    std::int64_t most = 0; // on a path
    for (const std::int64_t messages : shared.messages) most = std::max(most, messages);
    return carried_time(static_cast<double>(shared.time), clock_error_ns, most);
}

SharedPart shared_part_of(const Samples& samples, const Point& point) {
    return shared_part(intervals_of(samples, point), paths_of(point).paths);
}

std::vector<Column> qos_columns() {
    return columns_of_durations(
        {asked_column("path_list", ValueType::text, "", "the paths as asked for",
                      [](const Point& p) { return text_of(paths_of(p).paths); }),
         asked_column("path_count", ValueType::int32, "", "paths that are there at the same time",
                      [](const Point& p) { return static_cast<std::int64_t>(paths_of(p).paths.size()); }),
         asked_column("interval", ValueType::int64, "ns", "asked length of an interval",
                      [](const Point& p) { return paths_of(p).interval; }),
         asked_column("asked_duration", ValueType::int64, "ns", "time that the point was to be measured",
                      [](const Point& p) { return p.flow->duration; }),
         memory_column(),
         whole_column(
             {"shared_time",
              "ns",
              "time of the intervals in which every path could send; absent, with its rates, where it is not "
              "above clock_error or leaves a path no more than 1 ns for a message",
              Better::none,
              {},
              of_shared([](const Told& t) { return t.time; })}),
         whole_column({"shared_intervals",
                       "",
                       "intervals in which every path could send",
                       Better::none,
                       {},
                       of_shared([](const Told& t) { return static_cast<double>(t.shared.intervals); })},
                      ValueType::int32),
         whole_column({"messages",
                       "",
                       "messages that came in that time, of all paths",
                       Better::none,
                       {},
                       of_shared([](const Told& t) { return messages_in(t.shared); })}),
         whole_column({"bytes",
                       "B",
                       "payload that came in that time, of all paths",
                       Better::none,
                       {},
                       of_shared([](const Told& t) { return bytes_in(t.shared, t.point); })}),
         column_of(
             {"msg_rate", "1/s", "messages per second, all paths", Better::higher, {}, of_shared([](const Told& t) {
                  return messages_in(t.shared) / t.time * 1e9;
              })}),
         column_of(
             {"byte_rate", "B/s", "payload per second, all paths", Better::higher, {}, of_shared([](const Told& t) {
                  return bytes_in(t.shared, t.point) / t.time * 1e9;
              })}),
         column_of(
             {"gbps", "Gbit/s", "payload per second, all paths", Better::higher, {}, of_shared([](const Told& t) {
                  return bytes_in(t.shared, t.point) * 8 / t.time;
              })}),
         column_of(
             {"jain",
              "",
              "Jain's index of the bytes of the paths: 1 where all got the same",
              Better::none,
              {},
              of_shared([](const Told& t) { return jain_index(t.shared.bytes(paths_of(t.point).paths)); })})});
}

std::vector<SampleColumn> qos_samples() {
    return samples_with(
        {{.name = "messages_sent", .long_name = "messages that the rank has sent"},
         {.name = "messages_received", .long_name = "messages that have come to the rank"},
         {.name = "rank_cpu", .long_name = "CPU on which the rank's thread was at the end"},
         {.name = "rank_busy", .units = "ns", .long_name = "time in which the rank's thread had something to do"},
         {.name = "tick_end", .per = Per::tick, .units = "ns", .long_name = "end of the interval, from the start"},
         {.name = "tick_path", .per = Per::tick, .long_name = "path of the point"},
         {.name = "tick_number", .per = Per::tick, .long_name = "which interval of the path"},
         {.name = "tick_sent", .per = Per::tick, .long_name = "messages that the rank sent in the interval"},
         {.name = "tick_received", .per = Per::tick, .long_name = "messages that came to the rank in the interval"},
         {.name = "tick_idle",
          .per = Per::tick,
          .units = "ns",
          .long_name = "time in which the sender had nothing outstanding, at most; -1 at the receiver"}});
}

GroupDeclaration qos_group(const Plan& plan, int intervals) {
    std::vector<std::string> classes, modes;
    std::vector<int> index_of_row;
    for (std::size_t index = 0; index < plan.points.size(); ++index)
        for (const Path& path : paths_of(plan.points[index]).paths) {
            classes.push_back(path.traffic_class.text());
            modes.push_back(path.mode);
            index_of_row.push_back(static_cast<int>(index));
        }
    GroupDeclaration group;
    group.name = "paths";
    group.dimensions = {{.name = "path", .length = static_cast<int>(classes.size())},
                        {.name = "interval", .length = intervals, .may_grow = true}};
    group.columns = {
        of_path("of_point", ValueType::int32, "", "row of the points that it is of", true),
        of_path("number", ValueType::int32, "", "which of the paths of its point", true),
        of_path("source", ValueType::int32, "", "rank that sends", true),
        of_path("destination", ValueType::int32, "", "rank that receives", true),
        known_text("class_requested", "class as asked for", std::move(classes)),
        of_path("class_granted", ValueType::fixed_text, "", "what the provider took"),
        of_path("class_verified", ValueType::fixed_text, "", "what was seen on the wire or in counters"),
        late(of_path(kTrouble, ValueType::fixed_text, "", "why the class was not granted")),
        of_path("message_size", ValueType::int64, "B", "bytes of a message", true),
        of_path("window", ValueType::int32, "", "messages under way", true),
        known_text("mode", "transfer mode", std::move(modes)),
        of_path("core", ValueType::int32, "", "CPU of the thread that drives it", true),
        of_path("port", ValueType::fixed_text, "", "adapter and port"),
        of_path("start", ValueType::int64, "ns", "when it was to begin, from the start of the point", true),
        of_path("connected", ValueType::int64, "ns", "from when on it could send, from the start of the point",
                true),
        of_interval("interval_begin", "ns", "begin of the interval, from the start of the point"),
        of_interval("interval_length", "ns", "length of the interval"),
        of_interval("interval_bytes", "B", "payload that came to the destination in the interval"),
        of_interval("interval_messages", "", "messages that came to the destination in the interval"),
        of_interval("interval_idle", "ns", "time in which the sender had nothing outstanding, at most"),
    };
    group.of_point = [index_of_row](const Point& point, const PointResult& result) {
        return cells(point, result, index_of_row);
    };
    return group;
}

} // namespace a2aperf
