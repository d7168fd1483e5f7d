// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <doctest/doctest.h>

#include "launch.hpp"
#include "record/results_file.hpp"
#include "record/segment_group.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::Launch;

namespace {

ResultsFile read(const std::filesystem::path& file) {
    return ResultsFile::open(file, h5::File::Access::read_only, test::kSchema);
}

void check_point(const ResultsFile& file, const Launch& launch, int point) {
    CAPTURE(point);
    const PointResult expected = launch.result(point);
    const Samples samples = file.raw.read(point, {expected.samples.attempts()});
    CHECK(samples.begin == expected.samples.begin);
    CHECK(samples.send_done == expected.samples.send_done);
    CHECK(samples.recv_done == expected.samples.recv_done);
    CHECK(samples.exit == expected.samples.exit);
    CHECK(samples.start == expected.samples.start);
    CHECK(samples.valid == expected.samples.valid);
    for (const Column& column : test::kSchema.columns) {
        if (!column.outcome) continue;
        CAPTURE(column.name);
        const Value there = file.columns.read(column.name).at(static_cast<std::size_t>(point));
        const Value here = column.outcome(expected);
        const auto* real = std::get_if<double>(&here);
        if (real != nullptr && std::isnan(*real))
            CHECK(std::isnan(std::get<double>(there)));
        else
            CHECK(there == here);
    }
}

} // namespace

TEST_CASE("a figure of the workload's own is worked out, written, read back and copied") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    const std::vector<Column> columns =
        columns_with({column_of({.name = "first_begin",
                                 .units = "ns",
                                 .long_name = "begin of the first op",
                                 .better = Better::lower,
                                 .wide = {"begin"},
                                 .of = [](const Samples& samples, const Point& point, const Layout& layout) {
                                     return static_cast<double>(samples.begin.front()) +
                                            static_cast<double>(point.message_size) + layout.ranks();
                                 }})});
    launch.settings.schema = {
        .workload = "waves", .subject = "waves", .columns = columns, .samples = test::kSamples};
    PointResult result = launch.result(1);
    work_out(columns, result, launch.plan.points[1], launch.layout);
    const double expected = static_cast<double>(result.samples.begin.front() + 2000) + launch.layout.ranks();
    for (const EndState end : {EndState::interrupted, EndState::finished}) {
        Recorder recorder = end == EndState::interrupted ? launch.create() : launch.resume();
        if (end == EndState::interrupted) recorder.write(1, result);
        CHECK(recorder.stored(1).figures.at("first_begin") == expected);
        recorder.end(end, "");
        const ResultsFile file =
            ResultsFile::open(launch.settings.file, h5::File::Access::read_only, launch.settings.schema);
        CHECK(std::get<double>(file.columns.read("first_begin").at(1)) == expected);
        CHECK(std::isnan(std::get<double>(file.columns.read("first_begin").at(3)))); // not measured
        CHECK_FALSE(file.file.has("gbps_rank"));
        const h5::Dataset dataset = file.file.open_dataset("first_begin");
        CHECK(dataset.text_attribute("better") == "lower");
        CHECK(dataset.text_attribute("units") == "ns");
        CHECK(dataset.text_attribute("long_name") == "begin of the first op");
        CHECK(file.file.text_attribute("workload") == "waves");
    }
}

TEST_CASE("a new file knows its whole plan, and nothing is measured") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const Recorder recorder = launch.create();
    const ResultsFile file = read(launch.settings.file);
    const std::vector<State> states = file.columns.states();
    REQUIRE(states.size() == 9);
    for (std::size_t p = 0; p < states.size(); ++p) CHECK(states[p] == (p == 7 ? State::skipped : State::pending));
    CHECK(file.columns.read("mode").at(0) == Value(std::string("tagged")));
    CHECK(file.columns.read("mode").at(2) == Value(std::string("collective")));
    CHECK(file.columns.read("engine").at(2) == Value(std::string("mpi")));
    CHECK(file.columns.read("partner").at(2) == Value(std::int64_t{1}));
    CHECK(file.columns.read("segment").at(0) == Value(std::int64_t{-1}));
    CHECK(file.columns.read("provider").at(0) == Value(std::string("tcp;ofi_rxm")));
    CHECK(file.attributes.percentile_rule == "rank");
    CHECK(file.attributes.source == "a2aperf 0.1.0 (0123456789ab)");
    CHECK(file.file.text_attribute("layout") == "preallocated");
}

TEST_CASE("every point reads back, while the launch goes on and after its end") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    const std::vector<int> order{8, 0, 3, 1, 2, 5, 6, 4};
    for (const int p : order) {
        recorder.write(p, launch.result(p));
        const ResultsFile file = read(launch.settings.file);
        CHECK(file.reliable().states.at(static_cast<std::size_t>(p)) == State::complete);
        check_point(file, launch, p);
    }
    CHECK_FALSE(recorder.end(EndState::finished, "").has_value());
    const ResultsFile file = read(launch.settings.file);
    CHECK(file.file.text_attribute("layout") == "compact");
    for (std::size_t i = 0; i < order.size(); ++i) {
        check_point(file, launch, order[i]);
        const auto p = static_cast<std::size_t>(order[i]);
        CHECK(file.columns.read("order").at(p) == Value(static_cast<std::int64_t>(i)));
        CHECK(file.columns.read("segment").at(p) == Value(std::int64_t{0}));
    }
    CHECK(file.columns.states().at(7) == State::skipped);
    CHECK(file.extents.attempts < launch.settings.max_attempts + 1);
}

TEST_CASE("only a finished launch is compacted; every end is told") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    for (const EndState state : {EndState::interrupted, EndState::failed}) {
        std::filesystem::remove(launch.settings.file);
        Recorder recorder = launch.create();
        recorder.write(1, launch.result(1));
        recorder.end(state, "rank 3 on node001 fell silent");
        const ResultsFile file = read(launch.settings.file);
        CHECK(file.file.text_attribute("layout") == "preallocated");
        const h5::Group segment = file.segments.open_group("0");
        CHECK(segment.open_dataset("end_state").read<std::int8_t>().at(0) == static_cast<int>(state));
        CHECK(segment.open_dataset("ended").read<std::int64_t>().at(0) > 1'700'000'000'000'000'000);
        CHECK(std::strcmp(segment.open_dataset("message").read_fixed(1024, {}).data(),
                          "rank 3 on node001 fell silent") == 0);
    }
}

TEST_CASE("a point that reads otherwise than it was written is not in a file that is called finished") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    for (const int point : {1, 3}) recorder.write(point, launch.result(point));
    {
        Samples samples = launch.result(3).samples;
        ++samples.recv_done.back();
        ResultsFile::open(launch.settings.file, h5::File::Access::read_write, test::kSchema).raw.write(3, samples);
    }
    std::string said;
    try {
        recorder.end(EndState::finished, "");
    } catch (const RunError& error) {
        said = error.what();
        CHECK(error.reason() == EndReason::bad_data);
    }
    CHECK(said == launch.settings.file.string() + " is damaged: point 3 reads otherwise than it was written");
    recorder.end(EndState::failed, said, EndReason::bad_data);
    const ResultsFile file = read(launch.settings.file);
    CHECK(file.columns.states().at(1) == State::complete);
    CHECK(file.columns.states().at(3) == State::pending);
    CHECK(file.reliable().states.at(3) == State::pending);
    CHECK(file.segments.open_group("0").open_dataset("end_state").read<std::int8_t>().at(0) ==
          static_cast<int>(EndState::failed));
}

TEST_CASE("a point that is measured again is replaced as a whole") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    recorder.write(1, test::synthetic_result(1, launch.plan, launch.layout, 20, launch.provenance));
    recorder.write(1, launch.result(1));
    const ResultsFile file = read(launch.settings.file);
    CHECK(file.reliable().states.at(1) == State::complete);
    check_point(file, launch, 1);
    CHECK(file.columns.read("order").at(1) == Value(std::int64_t{1}));
}

TEST_CASE("a point without a valid op has failed, keeps its samples and is measured again") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    PointResult result = launch.result(1);
    std::fill(result.samples.valid.begin(), result.samples.valid.end(), 0);
    result.summary = summarise(result.samples, launch.layout, 2000, {});
    {
        Recorder recorder = launch.create();
        recorder.write(1, result);
        CHECK_FALSE(recorder.is_complete(1));
        recorder.end(EndState::finished, "");
        const ResultsFile file = read(launch.settings.file);
        CHECK(file.columns.states().at(1) == State::failed);
        CHECK(file.raw.read(1, {result.samples.attempts()}).recv_done == result.samples.recv_done);
    }
    Recorder again = launch.resume();
    CHECK_FALSE(again.is_complete(1));
    again.write(1, launch.result(1));
    CHECK(again.is_complete(1));
    check_point(read(launch.settings.file), launch, 1);
}

TEST_CASE("a file gets more points while the launch goes on, and keeps those that it has") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    const Plan whole = launch.plan;
    const auto cut = whole.points.begin() + 4;
    launch.plan.points.assign(whole.points.begin(), cut);
    std::erase_if(launch.plan.order, [](int index) { return index >= 4; });
    Recorder recorder = launch.create();
    recorder.write(1, launch.result(1));
    launch.plan = whole;
    recorder.extend({cut, whole.points.end()}, launch.layout, launch.settings.provider);
    CHECK(recorder.is_complete(1));
    CHECK_FALSE(recorder.is_complete(3)); // planned before, not measured by then
    CHECK_FALSE(recorder.is_complete(5));
    {
        const ResultsFile running = read(launch.settings.file); // as a kill would leave it
        CHECK(running.extents.points == 9);
        CHECK(running.reliable().damaged.empty());
        check_point(running, launch, 1);
        CHECK(running.columns.states()[7] == State::skipped);
    }
    for (const int point : {3, 5}) recorder.write(point, launch.result(point));
    CHECK_FALSE(recorder.end(EndState::finished, "").has_value());
    const ResultsFile finished = read(launch.settings.file);
    for (const int point : {1, 3, 5}) check_point(finished, launch, point);
    const std::vector<Value> sizes = finished.columns.read("message_size");
    for (std::size_t p = 0; p < whole.points.size(); ++p)
        CHECK(std::get<std::int64_t>(sizes[p]) == static_cast<std::int64_t>(whole.points[p].message_size));
    CHECK(finished.segment_count() == 1);
}

TEST_CASE("a file in whose place another was put gets no more points, and the other stays") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    std::filesystem::rename(launch.settings.file, folder / "b.h5");
    std::ofstream(launch.settings.file) << "another";
    CHECK_THROWS_AS(recorder.extend({launch.plan.points[1]}, launch.layout, launch.settings.provider), RunError);
    CHECK(std::filesystem::file_size(launch.settings.file) == 7);
    CHECK(read(folder / "b.h5").extents.points == 9);
}

TEST_CASE("a stored point gives back its statistics and counters") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    CHECK_FALSE(recorder.is_complete(3));
    const PointResult written = launch.result(3);
    recorder.write(3, written);
    CHECK(recorder.is_complete(3));
    const PointResult read = recorder.stored(3);
    CHECK(read.summary.count == written.summary.count);
    CHECK(read.summary.p50 == written.summary.p50);
    CHECK(read.summary.gbps.node_net == written.summary.gbps.node_net);
    CHECK(read.summary.interval_kind == written.summary.interval_kind);
    CHECK(read.summary.last_rank == written.summary.last_rank);
    CHECK(read.summary.p99_is_max == written.summary.p99_is_max);
    CHECK(read.stop_rule == written.stop_rule);
    CHECK(read.started_ns == written.started_ns);
    CHECK(read.samples.ranks == 4);
    REQUIRE(read.ranks.size() == 4);
    CHECK(read.ranks[2].voluntary_switches == written.ranks[2].voluntary_switches);
    CHECK(std::string(read.ranks[2].thread_affinity) == "0-1;0-1");
    REQUIRE(read.nodes.size() == 2);
    CHECK(read.nodes[1].ports == written.nodes[1].ports);
    CHECK(read.nodes[1].net_rx == written.nodes[1].net_rx);
    CHECK(read.nodes[1].net_tx == written.nodes[1].net_tx);
    CHECK(read.ranks[2].wall_time_ns == written.ranks[2].wall_time_ns);
    CHECK(read.nodes[1].user_time_ns == -1);
    CHECK(read.nodes[1].system_time_ns == written.nodes[1].system_time_ns);
    CHECK(read.nodes[1].wall_time_ns == written.nodes[1].wall_time_ns);
    REQUIRE(read.verification.ranks.size() == 4);
    CHECK(read.verification.ranks[2].voluntary_switches == written.ranks[2].voluntary_switches + 7);
    CHECK(read.verification.nodes.at(1).ports.at(0) == written.nodes[1].ports.at(0) + 7);
    CHECK(read.verification.nodes.at(1).net_rx == written.nodes[1].net_rx);
    CHECK(read.verification.nodes.at(1).net_tx == written.nodes[1].net_tx + 7);
    CHECK(read.verification.nodes.at(1).idle_time_ns == written.nodes[1].idle_time_ns + 7);
    CHECK(read.verification.ranks[2].wall_time_ns == written.ranks[2].wall_time_ns);
}

TEST_CASE("a stored point gives back what had been counted before and after it") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    const PointResult written = launch.result(3);
    recorder.write(3, written);
    const PointResult read = recorder.stored(3);
    REQUIRE(read.before.ranks.size() == 4);
    REQUIRE(read.after.ranks.size() == 4);
    CHECK(read.before.ranks[2].voluntary_switches == 5'000);
    CHECK(read.after.ranks[2].voluntary_switches == written.after.ranks[2].voluntary_switches);
    CHECK(read.before.ranks[2].threads == 2);
    CHECK(read.before.ranks[2].resident_memory == 1 << 20);
    CHECK(read.before.ranks[2].cpu_frequency_khz == 2'100'000);
    CHECK(read.after.ranks[2].cpu_frequency_khz == 3'700'000);
    CHECK(read.before.ranks[2].wall_time_ns == -1); // a clock's moment, by itself, says nothing
    CHECK(read.before.nodes.at(1).net_tx == 9'000);
    CHECK(read.before.nodes.at(1).user_time_ns == -1);
    CHECK(read.before.nodes.at(1).wall_time_ns == -1);
    CHECK(read.before.nodes.at(1).ports == written.before.nodes[1].ports);
    CHECK(read.after.nodes.at(1).ports == written.after.nodes[1].ports);
}

TEST_CASE("counters that were not taken are unknown") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    PointResult result = launch.result(1);
    result.ranks.clear();
    result.nodes.clear();
    result.verification = result.before = result.after = {};
    recorder.write(1, result);
    const PointResult read = recorder.stored(1);
    CHECK(read.ranks.at(0).voluntary_switches == -1);
    CHECK(read.nodes.at(0).interrupts == -1);
    CHECK(read.nodes.at(0).net_rx == -1);
    CHECK(read.nodes.at(0).net_tx == -1);
    CHECK(read.nodes.at(0).idle_time_ns == -1);
    CHECK(read.ranks.at(0).wall_time_ns == -1);
    CHECK(read.nodes.at(0).ports == std::vector<std::int64_t>{-1, -1});
    CHECK(read.verification.ranks.at(0).system_time_ns == -1);
    CHECK(read.before.ranks.at(0).system_time_ns == -1);
    CHECK(read.after.ranks.at(0).cpu_frequency_khz == -1);
    CHECK(read.after.nodes.at(0).ports == std::vector<std::int64_t>{-1, -1});
    CHECK(read.verification.nodes.at(0).ports == std::vector<std::int64_t>{-1, -1});
}

TEST_CASE("a result that doesn't fit is refused before anything of it is written") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    PointResult result = launch.result(1);
    CHECK_THROWS_AS(recorder.write(9, result), std::invalid_argument);
    result.samples.valid.pop_back();
    CHECK_THROWS_AS(recorder.write(1, result), std::invalid_argument);
    result = test::synthetic_result(1, launch.plan, launch.layout, 21, launch.provenance);
    CHECK_THROWS_AS(recorder.write(1, result), std::invalid_argument);
    CHECK_FALSE(recorder.is_complete(1));
    CHECK(read(launch.settings.file).columns.states().at(1) == State::pending);
}

TEST_CASE("an existing file is kept, or replaced by a whole one") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        recorder.write(1, launch.result(1));
    }
    CHECK(test::contains(test::complaint([&] { launch.create(); }), "exists already"));
    CHECK(read(launch.settings.file).columns.states().at(1) == State::complete);
    launch.settings.may_replace = true;
    { const Recorder recorder = launch.create(); }
    CHECK(read(launch.settings.file).columns.states().at(1) == State::pending);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        CHECK(entry.path() == folder / "a.h5");
}

TEST_CASE("a segment has every documented attribute, unknown where the launch doesn't know") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    launch.provenance.text["command_line"] = "bad \xFF byte";
    { const Recorder recorder = launch.create(); }
    const ResultsFile file = read(launch.settings.file);
    const h5::Group segment = file.segments.open_group("0");
    CHECK(segment.text_attribute("sync") == "clock");
    CHECK(segment.text_attribute("poll").empty());
    CHECK(segment.text_attribute("command_line") == "bad \uFFFD byte");
    CHECK(segment.text_attribute("hdf5_version") == h5::library_version());
    CHECK(segment.integer_attribute("seed") == 1);
    CHECK(segment.integer_attribute("memory_limit") == -1);
    CHECK(segment.integer_attribute("time_origin") == launch.provenance.time_origin_ns);
    CHECK(segment.has_attribute("clock_error_ns"));
    CHECK(segment.open_group("node_facts").open_dataset("kernel").read_text().size() == 2);
}

TEST_CASE("a segment has how long each rank was in each phase of its start") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    { const Recorder recorder = launch.create(); }
    const ResultsFile file = read(launch.settings.file);
    const h5::Group start = file.segments.open_group("0").open_group("start_times");
    const auto ranks = static_cast<std::size_t>(launch.layout.ranks());
    const std::vector<std::string> phases = start.open_dataset("phase").read_text();
    CHECK(phases.size() == kStartPhases.size());
    CHECK(start.open_dataset("meaning").read_text().size() == phases.size());
    const auto row = [&](StartPhase phase) {
        const h5::Shape place{static_cast<std::uint64_t>(phase), 0};
        return start.open_dataset("time").read<std::int64_t>(h5::Block{place, {1, ranks}});
    };
    CHECK(phases.at(static_cast<std::size_t>(StartPhase::memory)) == "memory");
    CHECK(row(StartPhase::mpi_init) == std::vector<std::int64_t>(ranks, 1000));
    CHECK(row(StartPhase::memory).at(3) == 13);
    CHECK(row(StartPhase::facts).at(3) == 0);
    const std::vector<std::int8_t> waits = start.open_dataset("waits").read<std::int8_t>();
    CHECK(waits.at(static_cast<std::size_t>(StartPhase::addresses)) == 1);
    CHECK(waits.at(static_cast<std::size_t>(StartPhase::memory)) == 0);
}
