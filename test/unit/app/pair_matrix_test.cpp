// SPDX-License-Identifier: BSD-3-Clause
#include "app/pair_matrix.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "a2aperf/plan/pair_plan.hpp"
#include "app/workload.hpp"
#include "record/results_file.hpp"
#include "support/temporary_folder.hpp"
#include "unit/record/launch.hpp"

using namespace a2aperf;

namespace {

constexpr int kRanks = 4;

// Pairs of four ranks, at two sizes.
struct PairLaunch : test::Launch {
    explicit PairLaunch(const std::filesystem::path& file) : Launch(file) {
        PairAxes axes;
        axes.sizes = {1000, 2000};
        axes.mode = "tagged";
        plan = make_pair_plan(axes, layout, [](const Point&) { return std::nullopt; });
        settings.schema = pairs().schema();
        keep(3);
    }
    PairMatrix matrix() const { return {plan, kRanks}; }
    void keep(int suspects) { settings.group = matrix().declaration(suspects, 4, settings.percentile); }
    std::vector<PairTime> expected(int point) const {
        const PointResult measured = result(point);
        return pair_times(measured.samples, plan.points[static_cast<std::size_t>(point)].distance,
                          settings.percentile, measured.clock_error_ns);
    }
};

std::vector<double> matrix(const std::filesystem::path& file, const char* name) {
    return h5::File::open(file, h5::File::Access::read_only).open_group("pairs").open_dataset(name).read<double>();
}

std::vector<std::int32_t> numbers(const std::filesystem::path& file, const char* name) {
    return h5::File::open(file, h5::File::Access::read_only)
        .open_group("pairs")
        .open_dataset(name)
        .read<std::int32_t>();
}

// Cell of the size, source and destination.
std::size_t cell(std::size_t size, const PairTime& pair) {
    return (size * kRanks + static_cast<std::size_t>(pair.source)) * kRanks +
           static_cast<std::size_t>(pair.destination);
}

void check_step(const PairLaunch& launch, int point) {
    CAPTURE(point);
    const auto p50 = matrix(launch.settings.file, "time_p50");
    const auto min = matrix(launch.settings.file, "time_min");
    const auto gbps = matrix(launch.settings.file, "gbps");
    const auto ops = numbers(launch.settings.file, "ops");
    const auto size = static_cast<std::size_t>(point % 2);
    for (const PairTime& pair : launch.expected(point)) {
        CHECK(p50[cell(size, pair)] == pair.p50);
        CHECK(min[cell(size, pair)] == pair.min);
        CHECK(ops[cell(size, pair)] == pair.ops);
        CHECK(gbps[cell(size, pair)] == doctest::Approx(8.0 * (size == 0 ? 1000 : 2000) / pair.p50));
    }
}

std::ptrdiff_t measured(const std::filesystem::path& file) {
    const auto p50 = matrix(file, "time_p50");
    return std::count_if(p50.begin(), p50.end(), [](double time) { return !std::isnan(time); });
}

} // namespace

TEST_CASE("a new matrix is blank, and other files have none") {
    const test::TemporaryFolder folder;
    const PairLaunch launch(folder / "a.h5");
    const Recorder recorder = launch.create();
    for (const char* name : {"time_p50", "time_min", "gbps"}) {
        const auto values = matrix(launch.settings.file, name);
        CHECK(values.size() == 2 * kRanks * kRanks);
        CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }));
    }
    CHECK(numbers(launch.settings.file, "ops") == std::vector<std::int32_t>(2 * kRanks * kRanks, 0));
    CHECK(numbers(launch.settings.file, "suspect_source") == std::vector<std::int32_t>(3, -1));

    const test::Launch other(folder / "b.h5");
    const Recorder of_other = other.create();
    CHECK_FALSE(ResultsFile::open(folder / "b.h5", h5::File::Access::read_only, test::kSchema).file.has("pairs"));
}

TEST_CASE("a step's cells are there before its point is complete") {
    const test::TemporaryFolder folder;
    const PairLaunch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    recorder.write(0, launch.result(0));
    recorder.write(5, launch.result(5));
    check_step(launch, 0);
    check_step(launch, 5);
    CHECK(measured(launch.settings.file) == 2 * kRanks);
    const auto there = launch.matrix().read(recorder, launch.plan.points[5]);
    const auto expected = launch.expected(5);
    REQUIRE(there.size() == expected.size());
    for (std::size_t i = 0; i < there.size(); ++i) {
        CHECK(there[i].source == expected[i].source);
        CHECK(there[i].destination == expected[i].destination);
        CHECK(there[i].p50 == expected[i].p50);
        CHECK(there[i].ops == expected[i].ops);
    }
}

TEST_CASE("the matrix and the second look outlive the end, and a resumed launch goes on with them") {
    const test::TemporaryFolder folder;
    PairLaunch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        for (const int point : {0, 3}) recorder.write(point, launch.result(point));
        PairMatrix::clear_isolated(recorder);
        launch.matrix().write_isolated(recorder, 1, {2, 3, 2000, {10, 30, 20}, 20});
        recorder.end(EndState::finished, "");
    }
    check_step(launch, 0);
    check_step(launch, 3);
    CHECK(numbers(launch.settings.file, "suspect_source") == std::vector<std::int32_t>{-1, 2, -1});
    CHECK(numbers(launch.settings.file, "suspect_destination") == std::vector<std::int32_t>{-1, 3, -1});
    CHECK(numbers(launch.settings.file, "suspect_size") == std::vector<std::int32_t>{-1, 1, -1});
    CHECK(matrix(launch.settings.file, "isolated_gbps")[1] == 8.0 * 2000 / 20);
    CHECK(matrix(launch.settings.file, "isolated_time") ==
          std::vector<double>{-1, -1, -1, -1, 10, 30, 20, -1, -1, -1, -1, -1});

    launch.keep(1); // what was there keeps its room
    Recorder recorder = launch.resume();
    check_step(launch, 0);
    CHECK(numbers(launch.settings.file, "suspect_source") == std::vector<std::int32_t>{-1, 2, -1});
    recorder.write(1, launch.result(1));
    PairMatrix::clear_isolated(recorder);
    CHECK(numbers(launch.settings.file, "suspect_source") == std::vector<std::int32_t>(3, -1));
    recorder.end(EndState::finished, "");
    for (const int point : {0, 1, 3}) check_step(launch, point);
    CHECK(measured(launch.settings.file) == 3 * kRanks);
}

TEST_CASE("an all-to-all's file is not gone on with by pairs") {
    const test::TemporaryFolder folder;
    const test::Launch before(folder / "a.h5");
    before.create().end(EndState::finished, "");
    const PairLaunch launch(folder / "a.h5");
    CHECK(test::contains(test::complaint([&] { launch.resume(); }), "can't be resumed"));
}
