// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/sample_column.hpp"

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
                           .replicate = Replicate::block,
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
            CHECK(file.raw.read(written, expected.attempts()).own == expected.own);
            CHECK(file.raw.read(written, expected.attempts()).valid == expected.valid);
        }
        const h5::Dataset turned = file.file.open_group("raw").open_dataset("turned");
        CHECK(turned.text_attribute("units") == "ns");
        CHECK(turned.text_attribute("long_name") == "the rank turned");
        CHECK(turned.has_attribute("DIMENSION_LIST"));
        CHECK(file.file.text_attribute("replicate") == "block");
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

TEST_CASE("a file needs as much room as its samples have values") {
    Extents extents{.schema = test::kSchema, .points = 3, .attempts = 5, .ranks = 7, .nodes = 1};
    for (const SampleColumn& column : test::kSamples)
        if (column.kept != Kept::when_traced) extents.samples.push_back(column);
    CHECK(RawGroup::bytes(extents) == 3 * 5 * (7 * 4 * 8 + 8 + 1)); // four moments a rank; start and valid
    extents.samples.assign(test::kSamples.begin(), test::kSamples.end());
    CHECK(RawGroup::bytes(extents) == 3 * 5 * (7 * (4 + 7) * 8 + 8 + 1));
}
