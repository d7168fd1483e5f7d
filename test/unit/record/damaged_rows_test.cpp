// SPDX-License-Identifier: BSD-3-Clause
// Recorder::resume of files whose rows are damaged in what was asked, or in their state (src/record/soundness.cpp).
#include <initializer_list>

#include <doctest/doctest.h>

#include "launch.hpp"
#include "record/results_file.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::complaint;
using test::contains;
using test::Launch;

namespace {

using Words = std::vector<std::string>;

constexpr const char* kDamaged0 = "1 of 9 points is not what was written (checksum) and will be measured again: 0";
constexpr const char* kOpen =
    " of points that are not measured is not what was written (checksum): it is as this launch asks";
constexpr int kSkipped = 7; // of Launch

ResultsFile opened(const Launch& launch) {
    return ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
}

// Points 0 and 3 are complete in it.
void write_points(const Launch& launch) {
    std::filesystem::remove(launch.settings.file);
    Recorder recorder = launch.create();
    for (const int p : {0, 3}) recorder.write(p, launch.result(p));
    recorder.end(EndState::interrupted, "");
}

template <class T>
void damage(const Launch& launch, const char* dataset, int point, T value) {
    h5::File::open(launch.settings.file, h5::File::Access::read_write)
        .open_dataset(dataset)
        .write(std::span<const T>(&value, 1), {{static_cast<std::uint64_t>(point)}, {1}});
}

template <class T>
void write_damaged(const Launch& launch, const char* dataset, int point, T value) {
    write_points(launch);
    damage(launch, dataset, point, value);
}

void write_with_state(const Launch& launch, int point, int state) {
    write_damaged(launch, "state", point, std::int64_t{state});
}

// What is said of a file whose points 0, if so, and 3 are complete after it is resumed.
Words resumed(const Launch& launch, bool has_0) {
    const Recorder recorder = launch.resume();
    CHECK(recorder.is_complete(0) == has_0);
    CHECK(recorder.is_complete(3));
    const ResultsFile file = opened(launch);
    CHECK(file.columns.states().at(0) == (has_0 ? State::complete : State::pending));
    CHECK(file.columns.states().at(1) == State::pending);
    CHECK(file.columns.states().at(kSkipped) == State::skipped);
    CHECK(file.reliable().damaged.empty());
    return recorder.remarks();
}

} // namespace

TEST_CASE("a row whose asked numbers are damaged is measured again with the plan's") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch);
    for (const Column& column : test::kSchema.columns) {
        if (!column.is_asked() || column.kind == ValueType::text) continue;
        CAPTURE(column.name);
        const std::string name(column.name);
        if (column.kind == ValueType::float64)
            write_damaged(launch, name.c_str(), 0, 4.5e300);
        else
            write_damaged(launch, name.c_str(), 0, std::int64_t{1'234'567});
        CHECK(resumed(launch, false) == Words{kDamaged0});
        const Value here = column.asked({launch.plan.points[0], launch.layout, launch.settings.provider});
        CHECK(opened(launch).columns.read(column.name).at(0) == here);
    }
}

TEST_CASE("a damaged number of what was asked of a point that is not measured is the plan's, and told") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    for (const Column& column : test::kSchema.columns) {
        if (!column.is_asked() || column.kind == ValueType::text) continue;
        CAPTURE(column.name);
        const std::string name(column.name);
        if (column.kind == ValueType::float64)
            write_damaged(launch, name.c_str(), 1, 4.5e300);
        else
            write_damaged(launch, name.c_str(), 1, std::int64_t{1'234'567});
        CHECK(opened(launch).columns.damaged_asked() == Words{name});
        CHECK(resumed(launch, true) == Words{name + kOpen});
        CHECK(opened(launch).columns.damaged_asked().empty());
        const Value here = column.asked({launch.plan.points[1], launch.layout, launch.settings.provider});
        CHECK(opened(launch).columns.read(column.name).at(1) == here);
    }
}

TEST_CASE("another plan's numbers are no damage") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    write_points(launch);
    const std::string before = test::bytes_of(launch.settings.file);
    launch.plan.points[1].window += 3;
    CHECK(contains(complaint([&] { launch.resume(); }), "point 1 has window "));
    CHECK(test::bytes_of(launch.settings.file) == before);
}

TEST_CASE("a repaired file has the plan's numbers where it has no point, and no other plan's") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const auto repaired = [&](int point) {
        write_damaged(launch, "message_size", point, std::int64_t{9});
        const ResultsFile file =
            ResultsFile::open(launch.settings.file, h5::File::Access::read_write, test::kSchema);
        file.file.set("repaired", std::string_view("point 1 was lost"));
        file.write_checksums();
        file.write_digest();
    };
    repaired(1);
    CHECK(resumed(launch, true) == Words{std::string("message_size") + kOpen});
    CHECK(opened(launch).columns.read("message_size").at(1) ==
          Value(static_cast<std::int64_t>(launch.plan.points[1].message_size)));
    repaired(3); // as if it had been measured so
    CHECK(contains(complaint([&] { launch.resume(); }), "point 3 has message_size 9 in the file"));
}

TEST_CASE("a state that is not what was written follows from a sound row, and is told") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const std::string said = "1 of 9 points has not the state that was written and is kept as its row says: ";
    for (const int state : {2, 3, 4, 0x41, -1}) {
        CAPTURE(state);
        write_with_state(launch, 0, state);
        CHECK(resumed(launch, true) == Words{said + "0"});
    }
    for (const int state : {1, 3, 0x41}) {
        CAPTURE(state);
        write_with_state(launch, kSkipped, state);
        CHECK(resumed(launch, true) == Words{said + "7"});
    }
    write_with_state(launch, kSkipped, 0); // as a point whose state has not reached the disk
    CHECK(resumed(launch, true).empty());
}

TEST_CASE("a state that is not what was written costs no more than a row that is damaged, or not measured") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    for (const int state : {1, 2, 3, 0x41}) {
        CAPTURE(state);
        write_with_state(launch, 1, state); // not measured
        CHECK(resumed(launch, true) ==
              Words{"1 of 9 points is not what was written (checksum) and will be measured again: 1"});
        write_with_state(launch, 0, state);
        damage(launch, "time_p50", 0, 5.0);
        CHECK(resumed(launch, false) == Words{kDamaged0});
    }
}

TEST_CASE("a skipped row that is damaged is asked for again") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_damaged(launch, "message_size", kSkipped, std::int64_t{9});
    CHECK(resumed(launch, true) ==
          Words{"1 of 9 points is not what was written (checksum) and will be measured again: 7"});
    CHECK(opened(launch).columns.read("message_size").at(kSkipped) ==
          Value(static_cast<std::int64_t>(launch.plan.points[kSkipped].message_size)));
}
