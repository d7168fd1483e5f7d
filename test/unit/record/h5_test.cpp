// SPDX-License-Identifier: BSD-3-Clause
#include "record/h5.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace a2aperf;

TEST_CASE("values, texts and attributes come back as they went in") {
    const test::TemporaryFolder folder;
    const auto path = folder / "a.h5";
    const std::vector<std::int64_t> numbers{1, -2, 1LL << 60, 4, 5, 6};
    const std::vector<std::string> texts{"", "grün", std::string(100'000, 'x')};
    {
        const h5::File file = h5::File::create(path);
        file.set("text", std::string_view("grün"));
        file.set("long", std::string_view(texts[2])); // above the 64 KiB an attribute may have in place
        file.set("int64", std::int64_t{-5});
        file.set("int32", std::int32_t{7});
        file.create_dataset("numbers", {h5::Kind::int64}, {2, 3}).write(std::span<const std::int64_t>(numbers));
        file.create_dataset("small", {h5::Kind::int8}, {2}).write(std::span<const std::int64_t>(numbers).first(2));
        file.create_dataset("texts", {h5::Kind::text}, {3}).write_text(texts);
        file.create_dataset("nothing", {h5::Kind::text}, {0}).write_text({});
        const h5::Dataset fixed = file.create_dataset("fixed", {h5::Kind::fixed_text, 3}, {2});
        fixed.write_fixed(std::span<const char>("abcdef", 6), {{0}, {2}});
    }
    const h5::File file = h5::File::open(path, h5::File::Access::read_only);
    CHECK(file.text_attribute("text") == "grün");
    CHECK(file.text_attribute("long") == texts[2]);
    CHECK(file.integer_attribute("int64") == -5);
    CHECK(file.integer_attribute("int32") == 7);
    CHECK(file.open_dataset("numbers").read<std::int64_t>() == numbers);
    CHECK(file.open_dataset("numbers").read<std::int64_t>({{0, 1}, {2, 1}}) == std::vector<std::int64_t>{-2, 5});
    CHECK(file.open_dataset("small").read<std::int8_t>() == std::vector<std::int8_t>{1, -2});
    CHECK(file.open_dataset("texts").read_text() == texts);
    CHECK(file.open_dataset("nothing").read_text().empty());
    const std::vector<char> fixed = file.open_dataset("fixed").read_fixed(3, {{1}, {1}});
    CHECK(std::string(fixed.begin(), fixed.end()) == "def");
    CHECK(file.children() == std::vector<std::string>{"fixed", "nothing", "numbers", "small", "texts"});
}

TEST_CASE("compressed data comes back as it went in, in rows larger than a chunk too") {
    const test::TemporaryFolder folder;
    std::vector<double> values(3 * 1000 * 900);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 1000);
    {
        const h5::File file = h5::File::create(folder / "a.h5");
        file.create_dataset("rows", {h5::Kind::float64}, {3, 1000, 900}, h5::Storage::compressed)
            .write(std::span<const double>(values));
        // 3.2, 7.2 and 8 GB a row: a chunk may not be that large
        file.create_dataset("wide", {h5::Kind::int64}, {2, 20'000, 20'000}, h5::Storage::compressed);
        file.create_dataset("deep", {h5::Kind::int64}, {1, 2, 30'000, 30'000}, h5::Storage::compressed);
        file.create_dataset("long", {h5::Kind::int64}, {1, 1, 1, 1'000'000'000}, h5::Storage::compressed);
    }
    const h5::File file = h5::File::open(folder / "a.h5", h5::File::Access::read_only);
    CHECK(file.open_dataset("rows").read<double>() == values);
    CHECK(std::filesystem::file_size(folder / "a.h5") < values.size() * sizeof(double) / 10);
}

TEST_CASE("the file is of the oldest format, and a preallocated array is sparse") {
    const test::TemporaryFolder folder;
    const auto path = folder / "a.h5";
    {
        const h5::File file = h5::File::create(path);
        file.create_dataset("large", {h5::Kind::int64}, {1000, 100'000});
        file.flush();
    }
    CHECK(std::filesystem::file_size(path) > 800'000'000);
    std::ifstream stream(path, std::ios::binary);
    char head[9] = {};
    stream.read(head, sizeof head);
    CHECK(std::string(head, 8) == "\x89HDF\r\n\x1a\n");
    CHECK(head[8] == 0); // superblock version
    const h5::File file = h5::File::open(path, h5::File::Access::read_write);
    const std::int64_t value = 42;
    file.open_dataset("large").write(std::span(&value, 1), {{999, 99'999}, {1, 1}});
    CHECK(file.open_dataset("large").read<std::int64_t>({{999, 99'998}, {1, 2}}) ==
          std::vector<std::int64_t>{0, 42});
}

TEST_CASE("a dataset that no memory may hold is not copied with its group") {
    const test::TemporaryFolder folder;
    const h5::File from = h5::File::create(folder / "a.h5");
    const h5::File to = h5::File::create(folder / "b.h5");
    const h5::Group group = from.create_group("facts");
    group.create_dataset("none", {h5::Kind::int64}, {0, 5});
    group.create_dataset("large", {h5::Kind::int8}, {1U << 14U, 1U << 15U});
    CHECK_THROWS_WITH_AS(from.copy_to(to, "facts"),
                         doctest::Contains("a dataset in it has more than 268435456 bytes"), h5::Unreadable);
}

TEST_CASE("a write to an open file is with the kernel at once") {
    const test::TemporaryFolder folder;
    const h5::File file = h5::File::create(folder / "a.h5");
    const h5::Dataset dataset = file.create_dataset("column", {h5::Kind::int8}, {4});
    file.flush();
    for (const std::int64_t value : {1, 2, 3}) {
        dataset.write(std::span(&value, 1), {{2}, {1}});
        const h5::File other = h5::File::open(folder / "a.h5", h5::File::Access::read_only);
        CHECK(other.open_dataset("column").read<std::int8_t>().at(2) == value);
    }
}

TEST_CASE("an error has HDF5's words and the errno behind it") {
    const test::TemporaryFolder folder;
    try {
        h5::File::create(folder / "missing" / "a.h5");
        FAIL("created a file in a folder that isn't there");
    } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::no_such_file_or_directory);
        CHECK(std::string(error.code().category().name()) == "HDF5");
        CHECK(std::string(error.what()).find("unable to open file") != std::string::npos);
        CHECK(std::string(error.what()).find("missing/a.h5") != std::string::npos);
    }
    const h5::File file = h5::File::create(folder / "a.h5");
    try {
        file.open_dataset("column");
        FAIL("opened a dataset that isn't there");
    } catch (const std::system_error& error) {
        CHECK(std::string(error.what()).find("cannot open column") != std::string::npos);
        CHECK(std::string(error.what()).find("object 'column' doesn't exist") != std::string::npos);
    }
}
