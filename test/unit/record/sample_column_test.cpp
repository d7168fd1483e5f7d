// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/sample_column.hpp"

#include <map>
#include <set>

#include <doctest/doctest.h>

#include "launch.hpp"
#include "record/results_file.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::complaint;
using test::contains;

namespace {

constexpr auto kReadOnly = h5::File::Access::read_only;

// A workload whose ranks also say when they turned.
struct TurningLaunch : test::Launch {
    explicit TurningLaunch(const std::filesystem::path& file) : Launch(file) {
        settings.schema = {.workload = "waves",
                           .subject = "waves",
                           .columns = test::kColumns,
                           .samples = columns,
                           .replicate = Replicate::op,
                           .block = 7};
    }
    PointResult turning(int point) const {
        PointResult made = result(point);
        std::vector<Nanoseconds>& turned = made.samples.own["turned"];
        for (const Nanoseconds moment : made.samples.recv_done) turned.push_back(moment + point);
        return made;
    }
    ResultsFile open() const { return ResultsFile::open(settings.file, kReadOnly, settings.schema); }

    std::vector<SampleColumn> columns =
        samples_with({{.name = "turned", .units = "ns", .long_name = "the rank turned"}});
};

} // namespace

TEST_CASE("samples of ops have names of their own, and each says where its values are") {
    std::set<std::string_view> names;
    Samples samples;
    for (const SampleColumn& column : samples_with({{.name = "turned", .long_name = "the rank turned"}})) {
        CAPTURE(column.name);
        CHECK(names.insert(column.name).second);
        CHECK_FALSE(column.long_name.empty());
        column.of(samples) = {static_cast<std::int64_t>(names.size())};
        CHECK(&column.of(std::as_const(samples)) == &column.of(samples));
    }
    CHECK(samples.begin == std::vector<Nanoseconds>{1});
    CHECK(samples.own.at("turned") == std::vector<Nanoseconds>{8});
    CHECK(samples_with({{.name = "none"}}).back().of(std::as_const(samples)).empty());
}

TEST_CASE("a sample of the workload's own is written, described, copied and kept by a resume") {
    const test::TemporaryFolder folder;
    const TurningLaunch launch(folder / "a.h5");
    for (const EndState end : {EndState::interrupted, EndState::finished}) {
        const int point = end == EndState::interrupted ? 1 : 3;
        Recorder recorder = point == 1 ? launch.create() : launch.resume();
        recorder.write(point, launch.turning(point));
        recorder.end(end, "");
        const ResultsFile file = launch.open();
        for (int written = 1; written <= point; written += 2) {
            const Samples expected = launch.turning(written).samples;
            CHECK(file.raw.read(written, {expected.attempts()}).own == expected.own);
            CHECK(file.raw.read(written, {expected.attempts()}).valid == expected.valid);
        }
        const h5::Dataset turned = file.file.open_group("raw").open_dataset("turned");
        CHECK(turned.text_attribute("units") == "ns");
        CHECK(turned.text_attribute("long_name") == "the rank turned");
        CHECK(turned.has_attribute("DIMENSION_LIST"));
        CHECK(file.file.text_attribute("replicate") == "op");
        CHECK(file.file.integer_attribute("block") == 7);
    }
}

TEST_CASE("samples that the workload declares and a result lacks are a mistake of the caller's") {
    const test::TemporaryFolder folder;
    const TurningLaunch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    CHECK_THROWS_AS(recorder.write(1, launch.result(1)), std::invalid_argument);
    CHECK_FALSE(recorder.is_complete(1));
}

TEST_CASE("samples that this launch would lose, or has and the file lacks, can't be resumed") {
    const test::TemporaryFolder folder;
    TurningLaunch launch(folder / "a.h5");
    launch.create().end(EndState::interrupted, "");
    const std::vector<SampleColumn> declared = launch.columns;
    launch.columns = samples_with({});
    launch.settings.schema.samples = launch.columns;
    CHECK(contains(complaint([&] { launch.resume(); }), "holds 'raw/turned', which this a2aperf doesn't know"));
    std::filesystem::remove(launch.settings.file);
    launch.create().end(EndState::interrupted, "");
    launch.settings.schema.samples = declared;
    CHECK(contains(complaint([&] { launch.resume(); }), "cannot open turned in /raw"));
}

namespace {

// A workload whose points run for a duration.
struct TickingLaunch : test::Launch {
    explicit TickingLaunch(const std::filesystem::path& file) : Launch(file) {
        settings.max_ticks = 9;
        settings.schema = {.workload = "waves", .subject = "waves", .columns = columns, .samples = samples};
    }
    PointResult ticking(int point, int ticks) const {
        PointResult made = result(point);
        made.samples.ticks = ticks;
        std::vector<std::int64_t>& came = made.samples.own["came"];
        for (int i = 0; i < ticks * layout.ranks(); ++i) came.push_back(100 * point + i);
        made.ticks_lost = point;
        return made;
    }
    ResultsFile open() const { return ResultsFile::open(settings.file, kReadOnly, settings.schema); }

    std::vector<Column> columns = columns_with(tick_columns());
    std::vector<SampleColumn> samples = samples_with({{.name = "came", .per = Per::tick, .long_name = "messages"}});
};

} // namespace

TEST_CASE("samples along ticks are kept beside those of ops, as many of each point as it has") {
    const test::TemporaryFolder folder;
    TickingLaunch launch(folder / "a.h5");
    const std::map<int, int> ticks{{1, 7}, {3, 0}, {5, 9}};
    for (const auto& [point, count] : ticks) {
        Recorder recorder = point == 1 ? launch.create() : launch.resume();
        recorder.write(point, launch.ticking(point, count));
        if (point == 3) launch.settings.max_ticks = 2; // what is there stays, whatever this launch has room for
        if (point == 1) CHECK(launch.open().raw.lengths().ticks == 9);
        recorder.end(point == 5 ? EndState::finished : EndState::interrupted, "");
        if (point == 3) launch.settings.max_ticks = 9;
        const ResultsFile file = launch.open();
        CHECK(file.reliable().damaged.empty());
        for (const auto& [written, made] : ticks) {
            if (written > point) break;
            CHECK(std::get<std::int64_t>(file.columns.read("ticks").at(static_cast<std::size_t>(written))) == made);
            CHECK(file.columns.read(written).ticks_lost == written);
            const Samples expected = launch.ticking(written, made).samples;
            const Samples found = file.raw.read(written, file.made().at(static_cast<std::size_t>(written)));
            CHECK(found.own == expected.own);
            CHECK(found.recv_done == expected.recv_done);
        }
    }
    const h5::Group raw = launch.open().file.open_group("raw");
    CHECK(raw.open_dataset("came").shape() == h5::Shape{9, 9, 4});
    CHECK(raw.open_dataset("came").text_attribute("count") == "ticks");
    CHECK_FALSE(raw.open_dataset("begin").has_attribute("count"));
}

TEST_CASE("more ticks than there is room for are a mistake of the caller's") {
    const test::TemporaryFolder folder;
    const TickingLaunch launch(folder / "a.h5");
    Recorder recorder = launch.create();
    CHECK_THROWS_AS(recorder.write(1, launch.ticking(1, 10)), std::invalid_argument);
    PointResult other = launch.ticking(1, 5);
    other.samples.ticks = 4;
    CHECK_THROWS_AS(recorder.write(1, other), std::invalid_argument);
    CHECK_FALSE(recorder.is_complete(1));
}

TEST_CASE("a tick that is not what was written is found, and what lies behind the last one is no part of a point") {
    const test::TemporaryFolder folder;
    const TickingLaunch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        for (const int point : {1, 3}) recorder.write(point, launch.ticking(point, 5));
        recorder.end(EndState::interrupted, "");
    }
    const auto change = [&](std::uint64_t point, std::uint64_t tick) {
        const h5::File file = h5::File::open(launch.settings.file, h5::File::Access::read_write);
        const std::int64_t wrong = -5;
        file.open_group("raw").open_dataset("came").write(std::span(&wrong, 1), h5::Elements{{point, tick, 0}});
    };
    change(3, 5);
    CHECK(launch.open().reliable().damaged.empty());
    change(3, 4);
    CHECK(launch.open().reliable().damaged == std::vector<int>{3});
}

namespace {

// One whose ranks have histograms too; or had none, when it was older.
struct BucketLaunch : TickingLaunch {
    explicit BucketLaunch(const std::filesystem::path& file) : TickingLaunch(file) { count(); }

    void count() {
        settings.max_buckets = 6;
        settings.schema.columns = counted;
        settings.schema.samples = with_buckets;
    }
    void do_not_count() {
        settings.max_buckets = 0;
        settings.schema.columns = columns;
        settings.schema.samples = samples;
    }
    PointResult counting(int point, int ticks, int buckets) const {
        PointResult made = ticking(point, ticks);
        made.samples.buckets = buckets;
        std::vector<std::int64_t>& in = made.samples.own["in_bucket"];
        for (int i = 0; i < buckets * layout.ranks(); ++i) in.push_back(1000 * point + i);
        return made;
    }

    std::vector<Column> counted = columns_with([] {
        std::vector<Column> figures = tick_columns();
        figures.push_back(bucket_column("buckets"));
        return figures;
    }());
    std::vector<SampleColumn> with_buckets =
        samples_with({{.name = "came", .per = Per::tick, .long_name = "messages"},
                      {.name = "in_bucket", .per = Per::bucket, .kept = Kept::but_in_old_files}});
};

} // namespace

TEST_CASE("a histogram is kept beside the samples along ticks, as many buckets of each point as it has") {
    const test::TemporaryFolder folder;
    BucketLaunch launch(folder / "a.h5");
    launch.create().end(EndState::interrupted, "");
    const std::map<int, std::pair<int, int>> made{{1, {2, 5}}, {3, {7, 0}}, {5, {0, 6}}};
    for (const auto& [point, counts] : made) {
        Recorder recorder = launch.resume();
        recorder.write(point, launch.counting(point, counts.first, counts.second));
        if (point == 1) launch.settings.max_buckets = 1; // what is there stays
        recorder.end(point == 5 ? EndState::finished : EndState::interrupted, "");
        if (point == 3) launch.settings.max_buckets = 6;
    }
    const ResultsFile file = launch.open();
    CHECK(file.reliable().damaged.empty());
    for (const auto& [point, counts] : made) {
        const Samples found = file.raw.read(point, file.made().at(static_cast<std::size_t>(point)));
        CHECK(found.buckets == counts.second);
        CHECK(found.own == launch.counting(point, counts.first, counts.second).samples.own);
    }
    const h5::Group raw = file.file.open_group("raw");
    CHECK(raw.open_dataset("in_bucket").shape() == h5::Shape{9, 6, 4});
    CHECK(raw.open_dataset("in_bucket").text_attribute("count") == "buckets");
    CHECK(raw.has("bucket"));
}

TEST_CASE("a file without histograms goes on with them: points that it has keep what they had") {
    const test::TemporaryFolder folder;
    BucketLaunch launch(folder / "a.h5");
    launch.do_not_count();
    {
        Recorder recorder = launch.create();
        recorder.write(1, launch.ticking(1, 4));
        recorder.end(EndState::interrupted, "");
    }
    CHECK_FALSE(launch.open().file.open_group("raw").has("in_bucket"));
    launch.count();
    for (const EndState end : {EndState::interrupted, EndState::finished}) {
        Recorder recorder = launch.resume();
        CHECK(recorder.is_complete(1));
        if (end == EndState::finished) recorder.write(3, launch.counting(3, 2, 3));
        recorder.end(end, "");
        const ResultsFile file = launch.open();
        CHECK(file.reliable().damaged.empty());
        const Samples found = file.raw.read(1, file.made().at(1));
        CHECK(found.buckets == 0);
        CHECK(found.own.at("came") == launch.ticking(1, 4).samples.own.at("came"));
        CHECK(found.own.at("in_bucket").empty());
    }
    const ResultsFile file = launch.open();
    CHECK(file.raw.read(3, file.made().at(3)).own == launch.counting(3, 2, 3).samples.own);
}

TEST_CASE("more buckets than there is room for are a mistake of the caller's; one that was changed is found") {
    const test::TemporaryFolder folder;
    const BucketLaunch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        CHECK_THROWS_AS(recorder.write(1, launch.counting(1, 2, 7)), std::invalid_argument);
        PointResult other = launch.counting(1, 2, 5);
        other.samples.buckets = 4;
        CHECK_THROWS_AS(recorder.write(1, other), std::invalid_argument);
        recorder.write(1, launch.counting(1, 2, 5));
        recorder.end(EndState::interrupted, "");
    }
    const auto change = [&](std::uint64_t bucket) {
        const h5::File file = h5::File::open(launch.settings.file, h5::File::Access::read_write);
        const std::int64_t wrong = -5;
        file.open_group("raw").open_dataset("in_bucket").write(std::span(&wrong, 1), h5::Elements{{1, bucket, 2}});
    };
    change(5);
    CHECK(launch.open().reliable().damaged.empty());
    change(4);
    CHECK(launch.open().reliable().damaged == std::vector<int>{1});
}

TEST_CASE("a file needs as much room as its samples have values") {
    Extents extents{.schema = test::kSchema, .points = 3, .attempts = 5, .ranks = 7, .nodes = 1};
    for (const SampleColumn& column : test::kSamples)
        if (column.kept != Kept::when_traced) extents.samples.push_back(column);
    CHECK(RawGroup::bytes(extents) == 3 * 5 * (7 * 4 * 8 + 8 + 1)); // four moments a rank; start and valid
    extents.samples.assign(test::kSamples.begin(), test::kSamples.end());
    CHECK(RawGroup::bytes(extents) == 3 * 5 * (7 * (4 + 7) * 8 + 8 + 1));
}
