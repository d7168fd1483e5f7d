// SPDX-License-Identifier: BSD-3-Clause
// Recorder::resume and what refuses it (src/record/resume.cpp).
#include <cmath>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "launch.hpp"
#include "record/results_file.hpp"
#include "record/segment_group.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::complaint;
using test::contains;
using test::Launch;

namespace {

void write_points(const Launch& launch, std::initializer_list<int> points, EndState end) {
    Recorder recorder = launch.create();
    for (const int p : points) recorder.write(p, launch.result(p));
    recorder.end(end, "");
}

template <class T>
void damage(const Launch& launch, const char* dataset, T value, const h5::Block& place) {
    h5::File::open(launch.settings.file, h5::File::Access::read_write)
        .open_dataset(dataset)
        .write(std::span<const T>(&value, 1), place);
}

} // namespace

TEST_CASE("a launch whose ops start otherwise does not resume") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    write_points(launch, {0, 3}, EndState::interrupted);
    const std::string before = test::bytes_of(launch.settings.file);
    launch.provenance.text["sync"] = "barrier";
    CHECK(contains(complaint([&] { launch.resume(); }),
                   "its ops start by --sync clock and this launch's by --sync barrier"));
    CHECK(test::bytes_of(launch.settings.file) == before);
}

TEST_CASE("a resumed file keeps its complete points and takes the others") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    for (const EndState end : {EndState::interrupted, EndState::finished}) {
        std::filesystem::remove(launch.settings.file);
        launch.settings.max_attempts = 20;
        write_points(launch, {0, 3, 1}, end);
        launch.settings.max_attempts = 30; // more room than before
        {
            Recorder recorder = launch.resume();
            for (int p = 0; p < 9; ++p) CHECK(recorder.is_complete(p) == (p == 0 || p == 1 || p == 3));
            launch.settings.max_attempts = 20;
            CHECK(recorder.stored(3).summary.p50 == launch.result(3).summary.p50);
            for (const int p : {2, 4}) recorder.write(p, launch.result(p));
            recorder.end(EndState::finished, "");
        }
        const ResultsFile file =
            ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
        CHECK(file.segment_count() == 2);
        for (const int p : {0, 1, 2, 3, 4}) {
            const PointResult expected = launch.result(p);
            CHECK(file.raw.read(p, {expected.samples.attempts()}).recv_done == expected.samples.recv_done);
            const auto row = static_cast<std::size_t>(p);
            const std::int64_t segment = p == 2 || p == 4 ? 1 : 0;
            CHECK(file.columns.read("segment").at(row) == Value(segment));
            CHECK(file.counters.read_nodes(p).at(1).ports == expected.nodes.at(1).ports);
            const PhaseCounts verification = file.counters.read_verification(p);
            CHECK(verification.nodes.at(1).ports == expected.verification.nodes.at(1).ports);
            CHECK(verification.ranks.at(1).voluntary_switches ==
                  expected.verification.ranks.at(1).voluntary_switches);
            CHECK(file.counters.read_before(p).nodes.at(1).ports == expected.before.nodes.at(1).ports);
            CHECK(file.counters.read_after(p).ranks.at(1).voluntary_switches ==
                  expected.after.ranks.at(1).voluntary_switches);
        }
        CHECK(file.columns.read("order").at(4) == Value(std::int64_t{1}));
    }
}

TEST_CASE("a third segment follows the second") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0}, EndState::interrupted);
    for (int segment = 1; segment <= 3; ++segment) {
        Recorder recorder = launch.resume();
        recorder.write(segment, launch.result(segment));
    }
    const ResultsFile file = ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
    CHECK(file.segment_count() == 4);
    for (int p = 0; p < 4; ++p)
        CHECK(file.columns.read("segment").at(static_cast<std::size_t>(p)) == Value(std::int64_t{p}));
    CHECK(SegmentGroup::open(file.segments, 3).nodes() == launch.provenance.nodes);
}

TEST_CASE("other nodes are allowed and told, with their ports beside the earlier ones") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    write_points(launch, {0}, EndState::interrupted);
    launch.provenance = test::synthetic_provenance(launch.layout, "rack");
    launch.provenance.port_names = {"hfi1_0/1/counters/port_xmit_wait", "eth0/statistics/rx_bytes"};
    Recorder recorder = launch.resume();
    REQUIRE(recorder.remarks().size() == 1);
    CHECK(contains(recorder.remarks()[0], "rack000,rack001 instead of node000,node001"));
    recorder.write(1, launch.result(1));
    // rx, tx of the first launch, then the new name
    CHECK(recorder.stored(0).nodes.at(1).ports == std::vector<std::int64_t>{10, 11, -1});
    CHECK(recorder.stored(1).nodes.at(1).ports == std::vector<std::int64_t>{1011, -1, 1010});
    CHECK(recorder.stored(0).verification.nodes.at(1).ports == std::vector<std::int64_t>{17, 18, -1});
    CHECK(recorder.stored(1).verification.nodes.at(1).ports == std::vector<std::int64_t>{1018, -1, 1017});
}

TEST_CASE("nodes without a port have their other values") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    launch.provenance.port_names.clear();
    const PointResult result = launch.result(0);
    Recorder recorder = launch.create();
    recorder.write(0, result);
    const PointResult stored = recorder.stored(0);
    REQUIRE(stored.after.nodes.size() == result.after.nodes.size());
    for (std::size_t n = 0; n < stored.after.nodes.size(); ++n) {
        CHECK(stored.after.nodes[n].interrupts == result.after.nodes[n].interrupts);
        CHECK(stored.after.nodes[n].ports.empty());
    }
}

TEST_CASE("settings that decide figures must agree, and those that only stand beside them are told") {
    const test::TemporaryFolder folder;
    Launch first(folder / "a.h5");
    first.provenance.text.insert({{"poll", "spin"},
                                  {"memory", "default"},
                                  {"domain", "mlx5_0"},
                                  {"asked_from", "mlx5_0/1"},
                                  {"asked_to", ""}});
    first.provenance.integers.insert({{"asked_ops", 20}, {"asked_time_budget", -1}, {"memory_limit", 1 << 30}});
    first.provenance.numbers.insert({"asked_precision", std::nan("")});
    write_points(first, {0, 1}, EndState::interrupted);
    const std::string before = test::bytes_of(first.settings.file);
    const auto says = [&](auto change) {
        Launch launch = first;
        change(launch);
        const std::string words = complaint([&] { launch.resume(); });
        CHECK(test::bytes_of(first.settings.file) == before);
        return words;
    };
    CHECK(contains(says([](Launch& l) { l.provenance.text["memory"] = "huge"; }),
                   "it was measured with --memory default and this launch has --memory huge"));
    CHECK(contains(says([](Launch& l) { l.provenance.integers["asked_ops"] = -1; }),
                   "it was measured with --ops 20 and this launch has no --ops"));
    CHECK(contains(says([](Launch& l) { l.provenance.numbers["asked_precision"] = 0.01; }),
                   "it was measured with no --precision and this launch has --precision 0.01"));
    CHECK(contains(says([](Launch& l) { l.provenance.integers["shuffle_ranks"] = 1; }),
                   "it was measured with no --shuffle-ranks and this launch has --shuffle-ranks"));
    CHECK(contains(says([](Launch& l) { l.provenance.text["asked_from"] = ""; }),
                   "it was measured with --from mlx5_0/1 and this launch has no --from"));
    CHECK(contains(says([](Launch& l) { l.provenance.text["asked_to"] = "mlx5_0/2"; }),
                   "it was measured with no --to and this launch has --to mlx5_0/2"));
    Launch launch = first;
    launch.provenance.text["domain"] = "mlx5_1";
    launch.provenance.numbers["asked_link_rate"] = 0.2;
    launch.provenance.integers["asked_time_budget"] = 2'000'000'000;
    launch.provenance.integers["memory_limit"] = 1 << 29; // what was free
    launch.provenance.text.erase("memory");               // not known here
    launch.provenance.labels = {{"firmware", "11"}};
    const Recorder recorder = launch.resume();
    REQUIRE(recorder.remarks().size() == 4);
    CHECK(recorder.remarks()[0] == "resumed with --time-budget 2 s; the launch before had no --time-budget");
    CHECK(recorder.remarks()[1] == "resumed with --nic mlx5_1; the launch before had --nic mlx5_0");
    CHECK(recorder.remarks()[2] == "resumed with --link-rate 0.2 Gbit/s; the launch before had no --link-rate");
    CHECK(contains(recorder.remarks()[3], "resumed with other labels (--label): 'firmware=11' instead of "));
}

TEST_CASE("what differs is named, and the file stays as it is") {
    const test::TemporaryFolder folder;
    Launch first(folder / "a.h5");
    write_points(first, {0, 1}, EndState::interrupted);
    const std::string before = test::bytes_of(first.settings.file);
    const auto refused = [&](const Launch& launch, const std::string& reason) {
        const std::string words = complaint([&] { launch.resume(); });
        CAPTURE(words);
        CHECK(contains(words, reason));
        CHECK(contains(words, "a.h5"));
        CHECK_FALSE(contains(words, "\n"));
        CHECK(test::bytes_of(first.settings.file) == before);
    };
    Launch launch = first;
    launch.plan = test::synthetic_plan(9, 2000);
    refused(launch, "point 0 has message_size 1000 in the file and 2000 in this launch (--sizes)");
    launch = first;
    launch.plan = test::synthetic_plan(11);
    refused(launch, "it has 9 points and this launch 11");
    launch = first;
    launch.plan.points[1].mode = "write-imm";
    refused(launch, "point 1 has mode 'tagged' in the file and 'write-imm'");
    launch = first;
    launch.settings.provider = "net";
    refused(launch, "provider 'tcp;ofi_rxm' in the file and 'net'");
    launch = first;
    launch.layout = Layout::blocks(6, 3);
    refused(launch, "measured with 4 ranks and this launch has 6");
    launch = first;
    launch.layout = Layout::blocks(4, 4);
    refused(launch, "nodes 2 in the file and 1");
    launch = first;
    launch.settings.schema.workload = "pairs";
    refused(launch, "measured by the workload 'alltoall' and this launch is one of 'pairs'");
    launch = first;
    launch.settings.percentile = PercentileRule::index;
    refused(launch, "'rank' and this launch's 'index'");
    launch = first;
    launch.settings.complete_at = CompleteAt::sender;
    refused(launch, "complete at the receiver and this launch's at the sender");
    launch = first;
    launch.provenance.environment[0].value = "1";
    refused(launch, "PSM2_RCVTHREAD was '0' and is '1' in this launch");
    launch = first;
    launch.provenance.environment.erase(launch.provenance.environment.begin());
    refused(launch, "PSM2_RCVTHREAD was '0' and is not set in this launch");
    launch = first;
    launch.provenance.environment.push_back({"HFI_UNIT", "1", true, true});
    refused(launch, "HFI_UNIT was not set and is '1' in this launch");
}

TEST_CASE("the launcher's own variables may differ") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    write_points(launch, {0}, EndState::interrupted);
    launch.provenance.environment[1].value = "7";
    CHECK(launch.resume().is_complete(0));
}

TEST_CASE("a point may be skipped for another reason than before, or for none") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    write_points(launch, {0, 1}, EndState::interrupted);
    launch.plan.points[7].skip_reason.clear();
    launch.plan.points[1].skip_reason = "no memory";
    { Recorder recorder = launch.resume(); }
    const ResultsFile file = ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
    CHECK(file.columns.states().at(7) == State::pending);
    CHECK(file.columns.states().at(1) == State::complete);
    CHECK(file.columns.read("skip_reason").at(1) == Value(std::string()));
}

TEST_CASE("whoever looks at the file that is to be resumed learns what its launch chose") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    CHECK(check_output(launch.settings.file, true, false, test::kSchema).start.empty());
    write_points(launch, {0, 1}, EndState::interrupted);
    const StoredChoices stored = check_output(launch.settings.file, true, false, test::kSchema);
    CHECK(stored.order == launch.plan.order);
    CHECK(stored.start == "clock");
}

TEST_CASE("what is no results file is refused in one line and stays as it is") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0, 1}, EndState::interrupted);
    const std::string good = test::bytes_of(launch.settings.file);
    const auto refused = [&](const std::string& reason) {
        const std::string before = test::bytes_of(launch.settings.file);
        for (const std::string& words : {complaint([&] { launch.resume(); }), complaint([&] {
                                             check_output(launch.settings.file, true, false, test::kSchema);
                                         })}) {
            CAPTURE(words);
            CHECK(contains(words, reason));
            CHECK(contains(words, "a.h5"));
            CHECK_FALSE(contains(words, "\n"));
        }
        CHECK(test::bytes_of(launch.settings.file) == before);
    };
    const auto replace = [&](const std::string& bytes) {
        std::ofstream(launch.settings.file, std::ios::binary | std::ios::trunc) << bytes;
    };
    const auto change = [&](const auto& mend) {
        replace(good);
        mend(h5::File::open(launch.settings.file, h5::File::Access::read_write));
    };
    replace("# nodes msg\n");
    refused("is not an HDF5 file");
    replace("");
    refused("is not an HDF5 file");
    replace(good.substr(0, good.size() / 2));
    refused("truncated");
    replace(good.substr(0, 300));
    refused("truncated");
    std::filesystem::remove(launch.settings.file);
    { h5::File::create(launch.settings.file).set("title", std::string_view("another's")); }
    refused("not one of a2aperf");
    std::filesystem::remove(launch.settings.file);
    {
        const h5::File file = h5::File::create(launch.settings.file);
        file.set("schema", std::string_view("a2aperf"));
        file.set("schema_version", std::int32_t{3});
    }
    refused("has schema version 3; this a2aperf reads versions 1 to 2");
    change([](const h5::File& file) { file.create_dataset("gbps_tomorrow", {h5::Kind::float64}, {9}); });
    refused("holds 'gbps_tomorrow', which this a2aperf doesn't know");
    // Bytes of the object headers overwritten: damaged, wherever HDF5 notices.
    std::string bad = good;
    for (std::size_t i = 600; i < 4000; ++i) bad[i] = '\x55';
    replace(bad);
    refused("");
}

TEST_CASE("a file that a launch is still writing can't be resumed or replaced") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    {
        const Recorder recorder = launch.create();
        CHECK(contains(complaint([&] { launch.resume(); }), "is being written by another launch"));
        CHECK(contains(complaint([&] { check_output(launch.settings.file, true, false, test::kSchema); }),
                       "being written"));
        CHECK(contains(complaint([&] { check_output(launch.settings.file, false, true, test::kSchema); }),
                       "being written"));
    }
    CHECK(complaint([&] { check_output(launch.settings.file, true, false, test::kSchema); }).empty());
}

TEST_CASE("who reads a file is in nobody's way") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0, 3}, EndState::interrupted);
    const int reader = open(launch.settings.file.c_str(), O_RDONLY);
    REQUIRE(flock(reader, LOCK_SH | LOCK_NB) == 0); // as HDF5 does
    CHECK(complaint([&] { check_output(launch.settings.file, false, true, test::kSchema); }).empty());
    CHECK(complaint([&] { launch.resume(); }).empty());
    close(reader);
}

TEST_CASE("a launch that may replace files does not replace one under way, which came after it had looked") {
    const test::TemporaryFolder folder;
    Launch launch(folder / "a.h5");
    launch.settings.may_replace = true;
    for (const bool is_there : {false, true}) {
        CAPTURE(is_there);
        CHECK(std::filesystem::exists(launch.settings.file) == is_there);
        const auto look = [&] { check_output(launch.settings.file, false, true, test::kSchema); };
        look();
        {
            Recorder first = launch.create();
            CHECK(complaint([&] { launch.create(); }) ==
                  fmt::format("{} is being written by another launch", launch.settings.file.string()));
            first.write(0, launch.result(0));
            CHECK_FALSE(first.end(EndState::finished, "").has_value());
        }
        CHECK(complaint(look).empty());
    }
}

// More of this is in test/fuzz/corpus/resume.
TEST_CASE("a point that is not what was written is measured again, and told; the others stay") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const auto look = [&](const std::string& what, EndState end) {
        CAPTURE(what);
        const Recorder recorder = launch.resume();
        CHECK_FALSE(recorder.is_complete(0));
        CHECK(recorder.is_complete(3));
        // Who changes a finished file cuts its trailer off.
        REQUIRE(recorder.remarks().size() == (end == EndState::finished ? 2 : 1));
        CHECK(recorder.remarks().back() ==
              "1 of 9 points is not what was written (checksum) and will be measured again: 0");
        const ResultsFile file =
            ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
        CHECK(file.columns.states().at(0) == State::pending);
        CHECK(file.columns.read("attempts").at(0) == Value(std::int64_t{0}));
    };
    for (const EndState end : {EndState::interrupted, EndState::finished}) {
        const auto damaged = [&](const char* dataset, const auto& value, const h5::Block& place) {
            std::filesystem::remove(launch.settings.file);
            write_points(launch, {0, 3}, end);
            damage(launch, dataset, value, place);
            look(dataset, end);
        };
        damaged("attempts", std::int64_t{-5}, {{0}, {1}});
        damaged("attempts", std::int64_t{1 << 30}, {{0}, {1}});
        damaged("ratio", 4.7e307, {{0}, {1}});
        damaged("checksum", std::int64_t{-1}, {{0}, {1}});
        damaged("raw/recv_done", std::int64_t{77}, {{0, 0, 3}, {1, 1, 1}});
        damaged("raw/valid", std::int64_t{0}, {{0, 0}, {1, 1}});
        damaged("counters/minor_faults", std::int64_t{77}, {{0, 2}, {1, 1}});
        damaged("counters/port", std::int64_t{77}, {{0, 1, 0}, {1, 1, 1}});
    }
}

TEST_CASE("what no launch wrote does not count: samples behind the attempts, other points") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0, 3}, EndState::interrupted);
    damage(launch, "raw/begin", std::int64_t{77}, {{3, 19, 0}, {1, 1, 1}});
    damage(launch, "raw/begin", std::int64_t{77}, {{4, 0, 0}, {1, 1, 1}});
    const Recorder recorder = launch.resume();
    CHECK(recorder.is_complete(0));
    CHECK(recorder.is_complete(3));
    CHECK(recorder.remarks().empty());
}

TEST_CASE("points that were written and not yet said to be complete are kept") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0, 3, 5}, EndState::interrupted);
    for (const std::uint64_t point : {0, 3}) damage(launch, "state", std::int64_t{0}, {{point}, {1}});
    damage(launch, "ops", std::int64_t{1}, {{3}, {1}});
    const Recorder recorder = launch.resume();
    CHECK(recorder.is_complete(0));
    CHECK_FALSE(recorder.is_complete(3)); // it was on its way
    CHECK(recorder.is_complete(5));
    CHECK(recorder.remarks().empty());
}

TEST_CASE("a file whose structure, plan or provenance is not what was written is refused, and stays as it is") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const auto refused = [&](const auto& change) {
        std::filesystem::remove(launch.settings.file);
        write_points(launch, {0, 3}, EndState::interrupted);
        change(h5::File::open(launch.settings.file, h5::File::Access::read_write));
        const std::string before = test::bytes_of(launch.settings.file);
        for (const std::string& said : {complaint([&] { launch.resume(); }), complaint([&] {
                                            check_output(launch.settings.file, true, false, test::kSchema);
                                        })}) {
            CAPTURE(said);
            CHECK(contains(said, "a.h5 is damaged: "));
            CHECK(contains(said, "is not what was written (digest)"));
            CHECK(contains(said, "a2a check --repair"));
            CHECK_FALSE(contains(said, "\n"));
        }
        CHECK(test::bytes_of(launch.settings.file) == before);
    };
    refused([](const h5::File& file) { file.set("note", std::string_view("mine")); });
    refused([](const h5::File& file) { file.open_dataset("segments/0/nodes").write_text({"one", "two"}); });
    refused([](const h5::File& file) {
        const std::int32_t other = 1;
        file.open_dataset("segments/0/node_of_rank").write(std::span(&other, 1), h5::Block{{0}, {1}});
    });
    refused([](const h5::File& file) {
        const std::int32_t other = 5;
        file.open_dataset("counters/rank").write(std::span(&other, 1), h5::Block{{0}, {1}});
    });
    refused([](const h5::File& file) {
        const std::int64_t none = -1;
        file.open_dataset("digest").write(std::span(&none, 1));
    });
}

TEST_CASE("a finished file that has changed since is gone on with as far as its checksums vouch for it, and told") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    write_points(launch, {0, 3}, EndState::finished);
    const std::string good = test::bytes_of(launch.settings.file);
    const auto resumed = [&](const std::string& bytes) {
        std::ofstream(launch.settings.file, std::ios::binary | std::ios::trunc) << bytes;
        const Recorder recorder = launch.resume();
        CHECK(recorder.is_complete(0));
        CHECK(recorder.is_complete(3));
        return recorder.remarks();
    };
    CHECK(resumed(good).empty());
    CHECK(contains(resumed(good.substr(0, good.size() - 64)).at(0), "a.h5 is not as it was finished (trailer)"));
    CHECK(contains(resumed(good + "\n").at(0), "a.h5 is not as it was finished (trailer)"));
    std::string other = good;
    other[good.size() - 40] ^= 1; // in the trailer's own checksum
    CHECK(contains(resumed(other).at(0), "a.h5 is not as it was finished (trailer)"));
}

TEST_CASE("a file of version 1 has no checksums and is gone on with; one of version 2 must have them") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    {
        // As an older program made it, but for the number.
        const Launch first(folder / "first.h5");
        write_points(first, {0, 3}, EndState::interrupted);
    }
    const auto without = [&](std::int32_t version) {
        ResultsFile whole = ResultsFile::open(folder / "first.h5", h5::File::Access::read_only, test::kSchema);
        const h5::File older = h5::File::create(launch.settings.file);
        for (const std::string& name : whole.file.attributes()) {
            if (name == "schema_version")
                older.set("schema_version", version);
            else if (whole.file.stored_attribute(name.c_str()).type == "t")
                older.set(name.c_str(), std::string_view(whole.file.text_attribute(name.c_str())));
            else
                older.set(name.c_str(), static_cast<std::int32_t>(whole.file.integer_attribute(name.c_str())));
        }
        for (const std::string& name : whole.file.children())
            if (name != "checksum" && name != "digest") whole.file.copy_to(older, name.c_str());
    };
    without(1);
    {
        const Recorder recorder = launch.resume();
        CHECK(recorder.is_complete(0));
        CHECK(recorder.is_complete(3));
        CHECK(recorder.remarks().empty());
    }
    {
        const ResultsFile file =
            ResultsFile::open(launch.settings.file, h5::File::Access::read_only, test::kSchema);
        CHECK(file.file.integer_attribute("schema_version") == 2);
        CHECK(file.columns.has_checksums());
        CHECK(file.reliable().damaged.empty());
    }
    without(2);
    CHECK(contains(complaint([&] { launch.resume(); }), "a.h5 is damaged: "));
}
