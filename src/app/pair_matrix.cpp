// SPDX-License-Identifier: BSD-3-Clause
#include "pair_matrix.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// Of the times the shorter one, of the rates the higher one.
Better better_of(const std::string& units) {
    return units == "ns" ? Better::lower : units == "Gbit/s" ? Better::higher : Better::none;
}

GroupColumn matrix(std::string name, ValueType type, std::string units, std::string long_name) {
    const Better better = better_of(units);
    return {.name = std::move(name),
            .type = type,
            .dimensions = {"message_size", "source", "destination"},
            .units = std::move(units),
            .long_name = std::move(long_name),
            .better = better,
            .is_compressed = true,
            .counted_by = type == ValueType::float64 ? "ops" : ""};
}

GroupColumn of_suspect(std::string name, ValueType type, std::string units, std::string long_name,
                       std::vector<std::string> dimensions = {"suspect"}) {
    const Better better = better_of(units);
    return {.name = std::move(name),
            .type = type,
            .dimensions = std::move(dimensions),
            .units = std::move(units),
            .long_name = std::move(long_name),
            .better = better,
            .has_unknown = type != ValueType::float64};
}

} // namespace

PairMatrix::PairMatrix(const Plan& plan, int ranks) : ranks_(ranks) {
    for (const Point& point : plan.points) {
        const auto size = static_cast<std::int64_t>(point.message_size);
        if (std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) sizes_.push_back(size);
    }
}

GroupDeclaration PairMatrix::declaration(int suspects, int isolated_ops, PercentileRule rule) const {
    GroupDeclaration group;
    group.name = "pairs";
    group.needs_exits = true; // a transfer is timed between its two ends, which a barrier leaves apart
    group.dimensions = {
        {.name = "message_size", .values = sizes_, .units = "B", .long_name = "bytes of a message"},
        {.name = "source", .length = ranks_},
        {.name = "destination", .length = ranks_},
        {.name = "suspect", .length = suspects, .may_grow = true},
        {.name = "isolated_attempt", .length = isolated_ops, .may_grow = true},
    };
    group.columns = {
        matrix("time_p50", ValueType::float64, "ns", "median transfer time from source to destination"),
        matrix("time_min", ValueType::float64, "ns", "shortest transfer time from source to destination"),
        matrix("gbps", ValueType::float64, "Gbit/s", "message size / median transfer time"),
        matrix("ops", ValueType::int32, "", "valid ops of the pair, 0 = not measured"),
        of_suspect("suspect_source", ValueType::int32, "", "sender of a pair that was looked at again"),
        of_suspect("suspect_destination", ValueType::int32, "", "its receiver"),
        of_suspect("suspect_size", ValueType::int32, "", "its message size, index into message_size"),
        of_suspect("isolated_time", ValueType::int64, "ns", "its transfer times with all other ranks idle",
                   {"suspect", "isolated_attempt"}),
        of_suspect("isolated_gbps", ValueType::float64, "Gbit/s", "message size / median of isolated_time"),
    };
    group.of_point = [matrix = *this, rule](const Point& point, const PointResult& result) {
        return matrix.cells(point.message_size,
                            pair_times(result.samples, point.distance, rule, result.clock_error_ns));
    };
    return group;
}

std::uint64_t PairMatrix::index_of(Bytes message_size) const {
    const auto found = std::find(sizes_.begin(), sizes_.end(), static_cast<std::int64_t>(message_size));
    if (found == sizes_.end()) throw std::invalid_argument(fmt::format("/pairs: no size {}", message_size));
    return static_cast<std::uint64_t>(found - sizes_.begin());
}

std::vector<std::uint64_t> PairMatrix::places(Bytes message_size, const std::vector<PairTime>& pairs) const {
    const std::uint64_t size = index_of(message_size);
    std::vector<std::uint64_t> places;
    for (const PairTime& pair : pairs)
        places.insert(places.end(), {size, static_cast<std::uint64_t>(pair.source),
                                     static_cast<std::uint64_t>(pair.destination)});
    return places;
}

// The number of ops last.
std::vector<GroupCells> PairMatrix::cells(Bytes message_size, const std::vector<PairTime>& pairs) const {
    std::vector<double> p50, min, gbps;
    std::vector<std::int64_t> ops;
    for (const PairTime& pair : pairs) {
        p50.push_back(pair.p50);
        min.push_back(pair.min);
        gbps.push_back(pair_gbps(message_size, pair.p50));
        ops.push_back(pair.ops);
    }
    const std::vector<std::uint64_t> there = places(message_size, pairs);
    return {{"time_p50", there, std::move(p50)},
            {"time_min", there, std::move(min)},
            {"gbps", there, std::move(gbps)},
            {"ops", there, std::move(ops)}};
}

std::vector<PairTime> PairMatrix::read(const Recorder& recorder, const Point& point) const {
    std::vector<PairTime> pairs;
    for (Rank source = 0; source < ranks_; ++source) pairs.push_back({source, (source + point.distance) % ranks_});
    const std::vector<std::uint64_t> there = places(point.message_size, pairs);
    const auto p50 = recorder.read("time_p50", there);
    const auto min = recorder.read("time_min", there);
    const auto ops = recorder.read("ops", there);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].ops = static_cast<int>(ops[i]);
        if (pairs[i].ops == 0) continue; // a cell that holds nothing
        pairs[i].p50 = p50[i];
        pairs[i].min = min[i];
    }
    return pairs;
}

void PairMatrix::clear_isolated(Recorder& recorder) {
    for (const char* column :
         {"suspect_source", "suspect_destination", "suspect_size", "isolated_time", "isolated_gbps"})
        recorder.clear(column);
}

void PairMatrix::write_isolated(Recorder& recorder, int place, const IsolatedPair& pair) const {
    const auto row = static_cast<std::uint64_t>(place);
    std::vector<std::uint64_t> attempts;
    for (std::uint64_t i = 0; i < pair.times.size(); ++i) attempts.insert(attempts.end(), {row, i});
    recorder.write_all([&](const PutCells& put) {
        const auto put_one = [&](const char* column, std::int64_t value) {
            put({column, {row}, std::vector<std::int64_t>{value}});
        };
        put({"isolated_time", attempts, std::vector<std::int64_t>(pair.times)});
        put({"isolated_gbps", {row}, std::vector<double>{pair_gbps(pair.message_size, pair.p50)}});
        put_one("suspect_destination", pair.destination);
        put_one("suspect_size", static_cast<std::int64_t>(index_of(pair.message_size)));
        put_one("suspect_source", pair.source); // whoever sees it finds the rest
    });
}

} // namespace a2aperf
