// SPDX-License-Identifier: BSD-3-Clause
// What a workload declares, with a workload that there is none of: the file follows from the declaration alone.
#include "record/declared_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <stdexcept>

#include <sys/stat.h>

#include <doctest/doctest.h>

#include "launch.hpp"
#include "record/crc32.hpp"
#include "record/digest.hpp"
#include "record/results_file.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

constexpr auto kReadOnly = h5::File::Access::read_only;

// Tides: a height for each of two harbours and some hours, and who looked.
GroupDeclaration tides(int hours, int watchers) {
    GroupDeclaration group;
    group.name = "tides";
    group.dimensions = {
        {.name = "harbour", .values = {100, 700}, .units = "m", .long_name = "way to the sea"},
        {.name = "hour", .length = hours, .may_grow = true},
        {.name = "watcher", .length = watchers, .may_grow = true},
    };
    group.columns = {
        {.name = "height",
         .type = ValueType::float64,
         .dimensions = {"harbour", "hour"},
         .units = "m",
         .long_name = "of the water",
         .better = Better::higher,
         .is_compressed = true},
        {.name = "waves", .type = ValueType::int32, .dimensions = {"harbour", "hour"}, .long_name = "seen"},
        {.name = "watch",
         .type = ValueType::int64,
         .dimensions = {"watcher"},
         .units = "ns",
         .long_name = "began",
         .has_unknown = true},
    };
    return group;
}

// The same with what each watcher is called, and what was noted.
GroupDeclaration named_tides() {
    GroupDeclaration group = tides(3, 2);
    group.columns.push_back({.name = "called",
                             .type = ValueType::text,
                             .dimensions = {"watcher"},
                             .long_name = "name",
                             .texts = {"Ane", "Ole Ø"}});
    group.columns.push_back(
        {.name = "note", .type = ValueType::fixed_text, .dimensions = {"watcher"}, .long_name = "what was seen"});
    group.of_point = [](const Point&, const PointResult&) {
        return std::vector<GroupCells>{{"note", {1}, std::vector<std::string>{"fog"}}};
    };
    return group;
}

std::vector<std::string> texts_of(const std::filesystem::path& file, const char* column) {
    const h5::Dataset dataset = h5::File::open(file, kReadOnly).open_group("tides").open_dataset(column);
    if (dataset.type_word() == "t") return dataset.read_text();
    const std::vector<char> bytes = dataset.read_fixed(kFixedTextBytes, {});
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < bytes.size(); i += kFixedTextBytes)
        texts.emplace_back(bytes.data() + i, strnlen(bytes.data() + i, kFixedTextBytes));
    return texts;
}

struct TideLaunch : test::Launch {
    explicit TideLaunch(const std::filesystem::path& file, int hours = 3, int watchers = 2) : Launch(file) {
        settings.group = tides(hours, watchers);
        settings.group->of_point = [hours](const Point&, const PointResult& result) {
            const auto hour = static_cast<std::uint64_t>(result.samples.attempts() % hours);
            return std::vector<GroupCells>{
                {"height", {0, hour, 1, hour}, std::vector<double>{0.5, 1.5}},
                {"waves", {1, hour}, std::vector<std::int64_t>{result.samples.attempts()}},
            };
        };
    }
};

template <class T>
std::vector<T> stored(const std::filesystem::path& file, const char* column) {
    return h5::File::open(file, kReadOnly).open_group("tides").open_dataset(column).read<T>();
}

bool are_absent(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

void write_to(auto& recorder, const GroupCells& cells) {
    recorder.write_all([&](const PutCells& put) { put(cells); });
}

} // namespace

TEST_CASE("a declared group is blank at first, with its units, its scales and what stands for unknown") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5");
    const Recorder recorder = launch.create();
    const h5::Group group = h5::File::open(launch.settings.file, kReadOnly).open_group("tides");
    CHECK(group.open_dataset("height").shape() == h5::Shape{2, 3});
    CHECK(group.open_dataset("height").text_attribute("units") == "m");
    CHECK(group.open_dataset("height").text_attribute("long_name") == "of the water");
    CHECK(group.open_dataset("height").text_attribute("better") == "higher");
    CHECK_FALSE(group.open_dataset("waves").has_attribute("better"));
    CHECK_FALSE(group.open_dataset("waves").has_attribute("units"));
    CHECK_FALSE(group.open_dataset("waves").has_attribute("_FillValue"));
    CHECK(group.open_dataset("watch").integer_attribute("_FillValue") == -1);
    for (const char* column : {"height", "waves", "watch"})
        CHECK(group.open_dataset(column).has_attribute("DIMENSION_LIST"));
    CHECK(group.open_dataset("harbour").read<std::int64_t>() == std::vector<std::int64_t>{100, 700});
    CHECK(group.open_dataset("harbour").text_attribute("units") == "m");
    CHECK(group.open_dataset("hour").read<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2});
    CHECK(are_absent(stored<double>(launch.settings.file, "height")));
    CHECK(stored<std::int64_t>(launch.settings.file, "waves") == std::vector<std::int64_t>(6, 0));
    CHECK(stored<std::int64_t>(launch.settings.file, "watch") == std::vector<std::int64_t>(2, -1));
}

TEST_CASE("what a point gives is in the file before the point is complete") {
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5");
    const std::size_t hour = static_cast<std::size_t>(launch.result(0).samples.attempts()) % 3;
    bool was_pending = false;
    const auto of_point = launch.settings.group->of_point;
    launch.settings.group->of_point = [&](const Point& point, const PointResult& result) {
        const ResultsFile file = ResultsFile::open(launch.settings.file, kReadOnly, test::kSchema);
        was_pending = file.columns.states().front() == State::pending;
        return of_point(point, result);
    };
    Recorder recorder = launch.create();
    recorder.write(0, launch.result(0));
    CHECK(was_pending);
    CHECK(recorder.read("height", {0, hour, 1, hour}) == std::vector<double>{0.5, 1.5});
    CHECK(stored<std::int64_t>(launch.settings.file, "waves")[3 + hour] == launch.result(0).samples.attempts());
    write_to(recorder, {"watch", {1}, std::vector<std::int64_t>{77}});
    CHECK(stored<std::int64_t>(launch.settings.file, "watch") == std::vector<std::int64_t>{-1, 77});
    recorder.clear("watch");
    CHECK(stored<std::int64_t>(launch.settings.file, "watch") == std::vector<std::int64_t>{-1, -1});
}

TEST_CASE(
    "texts that are known are there from the start, others when a point was measured, and both outlive the end") {
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5");
    launch.settings.group = named_tides();
    const std::vector<std::string> names{"Ane", "Ole Ø"};
    Recorder recorder = launch.create();
    CHECK(texts_of(launch.settings.file, "called") == names);
    CHECK(texts_of(launch.settings.file, "note") == std::vector<std::string>{"", ""});
    recorder.write(0, launch.result(0));
    CHECK(texts_of(launch.settings.file, "note") == std::vector<std::string>{"", "fog"});
    write_to(recorder, {"note", {0, 1}, std::vector<std::string>{std::string(70, 'x'), ""}});
    CHECK(texts_of(launch.settings.file, "note") == std::vector<std::string>{std::string(61, 'x') + "…", ""});
    write_to(recorder, {"note", {0, 1}, std::vector<std::string>{"", "rain"}});
    CHECK(recorder.read_texts("note") == std::vector<std::string>{"", "rain"});
    CHECK(recorder.end(EndState::finished, "") == std::nullopt);
    CHECK(texts_of(launch.settings.file, "called") == names);
    CHECK(texts_of(launch.settings.file, "note") == std::vector<std::string>{"", "rain"});
}

TEST_CASE(
    "a late column that an older program's file lacks is blank where that is resumed, and written from then on") {
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        recorder.write(0, launch.result(0));
    }
    const auto hours = stored<std::int64_t>(launch.settings.file, "waves");
    launch.settings.group = named_tides();
    std::erase_if(launch.settings.group->columns,
                  [](const GroupColumn& column) { return column.name == "called"; });
    CHECK_THROWS((void)launch.resume()); // one that is not late

    launch.settings.group->columns.back().is_late = true;
    Recorder recorder = launch.resume();
    CHECK(stored<std::int64_t>(launch.settings.file, "waves") == hours);
    CHECK(recorder.read_texts("note") == std::vector<std::string>{"", ""});
    recorder.write(1, launch.result(1));
    CHECK(recorder.read_texts("note") == std::vector<std::string>{"", "fog"});
    CHECK(recorder.end(EndState::finished, "") == std::nullopt);
    CHECK(texts_of(launch.settings.file, "note") == std::vector<std::string>{"", "fog"});
}

TEST_CASE("of a launch that was killed the texts are kept that no sample tells") {
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5");
    launch.settings.group = named_tides();
    {
        Recorder recorder = launch.create();
        recorder.write(0, launch.result(0));
        write_to(recorder, {"note", {0}, std::vector<std::string>{"snow"}});
    }
    const Recorder recorder = launch.resume();
    CHECK(texts_of(launch.settings.file, "called") == std::vector<std::string>{"Ane", "Ole Ø"});
    CHECK(texts_of(launch.settings.file, "note").front() == "snow");
}

TEST_CASE("large columns that are counted take no room on the disk until there is something in them") {
    constexpr std::uint64_t kHarbours = 200;
    constexpr std::uint64_t kHours = 25'000; // 40 MB of heights and 20 MB of waves
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5", kHours);
    GroupDeclaration& group = *launch.settings.group;
    group.dimensions[0].values.resize(kHarbours);
    for (std::uint64_t i = 0; i < kHarbours; ++i) group.dimensions[0].values[i] = static_cast<std::int64_t>(i);
    group.columns[0].counted_by = "waves";
    Recorder recorder = launch.create();
    struct stat status {};
    REQUIRE(stat(launch.settings.file.c_str(), &status) == 0);
    CHECK(status.st_size > 60'000'000);
    CHECK(status.st_blocks * 512 < 4'000'000);

    const auto is_sound = [&] {
        const ResultsFile file = ResultsFile::open(launch.settings.file, kReadOnly, test::kSchema);
        return DeclaredGroup::open(file.file, group).is_sound();
    };
    CHECK(is_sound());
    write_to(recorder, {"height", {7, 3, 7, 4}, std::vector<double>{2.5, 3.5}});
    write_to(recorder, {"waves", {7, 3}, std::vector<std::int64_t>{5}}); // the other height counts for nothing
    CHECK(is_sound());
    CHECK(recorder.end(EndState::finished, "") == std::nullopt);
    const std::vector<double> height = stored<double>(launch.settings.file, "height");
    CHECK(height.at(7 * kHours + 3) == 2.5);
    CHECK(std::count_if(height.begin(), height.end(), [](double one) { return !std::isnan(one); }) == 1);
    CHECK(is_sound());
}

TEST_CASE("a declared group outlives the end, and a resumed launch has room for both") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5", 3, 2);
    {
        Recorder recorder = launch.create();
        write_to(recorder, {"height", {1, 2}, std::vector<double>{4.5}});
        write_to(recorder, {"watch", {0, 1}, std::vector<std::int64_t>{5, 6}});
        recorder.end(EndState::finished, "");
    }
    const TideLaunch later(folder / "a.h5", 2, 4); // fewer hours, more watchers
    Recorder recorder = later.resume();
    const auto height = stored<double>(launch.settings.file, "height");
    REQUIRE(height.size() == 6);
    CHECK(height[5] == 4.5);
    CHECK(stored<std::int64_t>(launch.settings.file, "watch") == std::vector<std::int64_t>{5, 6, -1, -1});
    recorder.end(EndState::finished, "");
    CHECK(stored<double>(launch.settings.file, "height")[5] == 4.5);
    CHECK(stored<std::int64_t>(launch.settings.file, "watch") == std::vector<std::int64_t>{5, 6, -1, -1});
}

TEST_CASE("what a newer program has put into a declared group is refused, and what it says there is kept") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5");
    launch.create().end(EndState::interrupted, "");
    const auto change = [&](const auto& how) {
        const h5::File file = h5::File::open(launch.settings.file, h5::File::Access::read_write);
        how(file.open_group("tides"));
        const std::int64_t digest = digest_of(file);
        file.open_dataset("digest").write(std::span(&digest, 1));
    };
    change([](const h5::Group& tides) {
        tides.set("sea", std::string_view("north"));
        tides.open_dataset("height").set("datum", 1.5);
    });
    launch.resume().end(EndState::finished, "");
    {
        const h5::File file = h5::File::open(launch.settings.file, h5::File::Access::read_only);
        CHECK(file.open_group("tides").text_attribute("sea") == "north");
        CHECK(file.open_group("tides").open_dataset("height").has_attribute("datum"));
    }
    change([](const h5::Group& tides) { tides.create_dataset("salt", {h5::Kind::float64}, {3}); });
    const auto says = test::complaint([&] { launch.resume(); });
    CHECK(test::contains(says, "holds 'tides/salt', which this a2aperf doesn't know"));
}

TEST_CASE("a file whose group is another than declared is refused and stays as it is") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5");
    launch.create().end(EndState::interrupted, "");
    const auto words = [](const test::Launch& other) { return test::complaint([&] { other.resume(); }); };

    test::Launch without(folder / "a.h5");
    CHECK(test::contains(words(without), "holds 'tides', which this a2aperf doesn't know"));

    TideLaunch other = launch;
    other.settings.group->dimensions[0].values = {100, 900};
    CHECK(test::contains(words(other), "/tides/harbour"));
    CHECK(test::contains(words(other), "has other values than this launch"));
    other = launch;
    other.settings.group->dimensions[0].values = {100, 700, 900};
    CHECK(test::contains(words(other), "is damaged: /tides/harbour"));
    other = launch;
    other.settings.group->columns[1].dimensions = {"harbour", "watcher"};
    CHECK(test::contains(words(other), "is damaged: /tides/waves"));
    other = launch;
    other.settings.group->columns.push_back(
        {.name = "foam", .type = ValueType::int32, .dimensions = {"hour"}, .long_name = "seen"});
    CHECK(test::contains(words(other), "is damaged"));
    CHECK(words(launch).empty());

    const test::Launch plain(folder / "b.h5"); // and one that has none
    plain.create().end(EndState::interrupted, "");
    other = launch;
    other.settings.file = folder / "b.h5";
    CHECK(test::contains(words(other), "is damaged: cannot open tides"));
}

TEST_CASE("figures that need when ranks left the barrier are not gone on with where that was not kept") {
    const test::TemporaryFolder folder;
    TideLaunch launch(folder / "a.h5");
    launch.settings.group->needs_exits = true;
    {
        launch.create().end(EndState::interrupted, "");
        ResultsFile whole = ResultsFile::open(launch.settings.file, kReadOnly, test::kSchema);
        Extents extents = whole.extents;
        extents.group = launch.settings.group;
        std::erase_if(extents.samples, [](const SampleColumn& column) { return column.name == "exit"; });
        const ResultsFile older =
            ResultsFile::create(folder / "b.h5", FileLayout::preallocated, whole.attributes, extents);
        copy_asked(whole, older);
        whole.segments.copy_to(older.segments, "0");
        older.write_digest();
    }
    launch.settings.file = folder / "b.h5";
    CHECK(test::contains(test::complaint([&] { launch.resume(); }), "it is of an older a2aperf"));
    launch.settings.group->needs_exits = false;
    CHECK(test::complaint([&] { launch.resume(); }).empty());
}

TEST_CASE("a group takes the bytes of its cells, and large ones are filled part by part") {
    CHECK(bytes_of(tides(3, 2)) == 2 * 3 * (8 + 4) + 2 * 8);
    CHECK(bytes_of(tides(0, 0)) == 0);
    const test::TemporaryFolder folder;
    GroupDeclaration wide = tides(0, 3'000'000); // more than one part
    wide.dimensions[1].may_grow = false;
    for (const h5::Storage storage : {h5::Storage::contiguous, h5::Storage::compressed}) {
        const h5::File file = h5::File::create(folder / "a.h5");
        const DeclaredGroup group = DeclaredGroup::create(file, wide, storage);
        const auto watch = file.open_group("tides").open_dataset("watch").read<std::int64_t>();
        CHECK(std::count(watch.begin(), watch.end(), -1) == 3'000'000);
        CHECK(file.open_group("tides").open_dataset("height").shape() == h5::Shape{2, 0});
    }
}

TEST_CASE("a dimension that may grow is a list, and not longer than any of ours") {
    const test::TemporaryFolder folder;
    for (const h5::Shape& shape : {h5::Shape{2, 2}, h5::Shape{1U << 25U}}) {
        const h5::File file = h5::File::create(folder / "a.h5");
        const h5::Group group = file.create_group("tides");
        const std::vector<std::int64_t> harbours{100, 700};
        group.create_dataset("harbour", {h5::Kind::int64}, {2}).write(std::span<const std::int64_t>(harbours));
        group.create_dataset("hour", {h5::Kind::int32}, shape, h5::Storage::compressed); // takes no room
        std::string words;
        try {
            DeclaredGroup::open(file, tides(3, 2));
        } catch (const h5::Unreadable& error) {
            words = error.what();
        }
        CHECK(test::contains(words, "/tides/hour"));
        CHECK(test::contains(words, "is not a list of at most 16777216 values"));
    }
}

TEST_CASE("cells that are not declared are a mistake of the caller's") {
    const test::TemporaryFolder folder;
    const h5::File file = h5::File::create(folder / "a.h5");
    const DeclaredGroup group = DeclaredGroup::create(file, tides(3, 2), h5::Storage::contiguous);
    CHECK_THROWS_AS(write_to(group, {"depth", {0}, std::vector<double>{1}}), std::invalid_argument);
    CHECK_THROWS_AS(write_to(group, {"height", {0}, std::vector<double>{1}}), std::invalid_argument);
    CHECK_THROWS_AS(group.clear("depth"), std::invalid_argument);
}

TEST_CASE("the checksum goes on with every change, whatever changes") {
    const test::TemporaryFolder folder;
    const h5::File file = h5::File::create(folder / "a.h5");
    GroupDeclaration declaration = named_tides();
    declaration.columns[0].counted_by = "waves";
    const DeclaredGroup group = DeclaredGroup::create(file, declaration, h5::Storage::contiguous);
    CHECK(group.checksum() != kNoChecksum);
    CHECK(group.is_sound());
    std::mt19937_64 random(20261128);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    const auto cell = [&] { return std::vector<std::uint64_t>{below(2), below(3)}; };
    std::set<std::int64_t> seen;
    for (int i = 0; i < 300; ++i) {
        switch (below(7)) {
        case 0:
            write_to(group, {"height", cell(), std::vector<double>{static_cast<double>(below(9))}});
            break;
        case 1:
            write_to(group, {"height", cell(), std::vector<double>{kAbsent}});
            break;
        case 2:
            write_to(group, {"waves", cell(), std::vector<std::int64_t>{static_cast<std::int64_t>(below(2))}});
            break;
        case 3:
            write_to(group, {"waves", {1, 2, 0, 0, 0, 1, 1, 0}, std::vector<std::int64_t>{1, 0, 3, 0}});
            break;
        case 4:
            write_to(group,
                     {"watch", {1, 0}, std::vector<std::int64_t>{static_cast<std::int64_t>(random() >> 1U), -7}});
            break;
        case 5:
            write_to(group, {"note", {below(2)}, std::vector<std::string>{std::string(below(70), 'x')}});
            break;
        default:
            group.clear(std::vector<std::string>{"height", "waves", "watch", "note"}[below(4)]);
        }
        CHECK(group.is_sound());
        seen.insert(group.checksum());
    }
    CHECK(seen.size() > 150);
    // After a change that failed it is what is there.
    CHECK_THROWS_AS(group.write_all([&](const PutCells& put) {
        put({"watch", {0}, std::vector<std::int64_t>{3}});
        put({"depth", {0}, std::vector<double>{1}});
    }),
                    std::invalid_argument);
    CHECK(group.checksum() == kNoChecksum);
    write_to(group, {"watch", {1}, std::vector<std::int64_t>{4}});
    CHECK(group.is_sound());
    CHECK(group.checksum() != kNoChecksum);
}

TEST_CASE("what the disk makes of a group is not what its checksum goes on with") {
    const test::TemporaryFolder folder;
    const h5::File file = h5::File::create(folder / "a.h5");
    const DeclaredGroup created = DeclaredGroup::create(file, tides(3, 2), h5::Storage::contiguous);
    write_to(created, {"height", {0, 0}, std::vector<double>{2}});
    const DeclaredGroup opened = DeclaredGroup::open(file, tides(3, 2));
    write_to(opened, {"waves", {0, 0}, std::vector<std::int64_t>{4}});
    CHECK(opened.is_sound());
    const double other = 77;
    file.open_dataset("tides/height").write(std::span(&other, 1), h5::Block{{0, 0}, {1, 1}});
    const DeclaredGroup opened_again = DeclaredGroup::open(file, tides(3, 2));
    for (const DeclaredGroup* group : {&opened, &opened_again})
        for (const std::uint64_t hour : {1U, 0U}) { // over the damage, too: what it was before is not known
            write_to(*group, {"height", {0, hour}, std::vector<double>{3}});
            CHECK_FALSE(group->is_sound());
        }
}

TEST_CASE("a group has its checksum from the start to the end of a launch, and a compact copy keeps it") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5");
    for (const EndState end : {EndState::interrupted, EndState::failed, EndState::finished}) {
        std::filesystem::remove(launch.settings.file);
        Recorder recorder = launch.create();
        const auto checksum = [&] {
            ResultsFile file = ResultsFile::open(launch.settings.file, kReadOnly, test::kSchema);
            file.open_group(launch.settings.group);
            CHECK(file.group->is_sound());
            CHECK(file.group->checksum() != kNoChecksum);
            return file.group->checksum();
        };
        const std::int64_t at_first = checksum();
        recorder.write(0, launch.result(0));
        const std::int64_t after_a_point = checksum();
        CHECK(after_a_point != at_first);
        recorder.end(end, "");
        CHECK(checksum() == after_a_point);
    }
}

TEST_CASE("a group that was not sealed, or is not what was, is made anew of the points that are kept") {
    const test::TemporaryFolder folder;
    const TideLaunch launch(folder / "a.h5");
    enum class How { older, killed, ended };
    for (const How how : {How::older, How::killed, How::ended}) {
        std::filesystem::remove(launch.settings.file);
        {
            Recorder recorder = launch.create();
            recorder.write(0, launch.result(0));
            if (how == How::ended) recorder.end(EndState::interrupted, "");
        }
        {
            const h5::File file = h5::File::open(launch.settings.file, h5::File::Access::read_write);
            const double other = 77;
            file.open_dataset("tides/height").write(std::span(&other, 1), h5::Block{{0, 0}, {1, 1}});
            // As older programs left it where it was large.
            if (how == How::older) file.open_dataset("tides/checksum").write(std::span(&kNoChecksum, 1));
        }
        const auto hour = static_cast<std::uint64_t>(launch.result(0).samples.attempts() % 3);
        const Recorder recorder = launch.resume();
        CHECK(recorder.is_complete(0));
        CHECK(recorder.read("height", {0, hour, 1, hour}) == std::vector<double>{0.5, 1.5});
        CHECK(recorder.read("waves", {1, hour}) ==
              std::vector<double>{static_cast<double>(launch.result(0).samples.attempts())});
        if (hour != 0) CHECK(std::isnan(recorder.read("height", {0, 0}).front()));
        REQUIRE(recorder.remarks().size() == (how == How::older ? 0 : 1));
        if (how != How::older) CHECK(test::contains(recorder.remarks()[0], "/tides is not what was written"));
    }
}
