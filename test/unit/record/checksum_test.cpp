// SPDX-License-Identifier: BSD-3-Clause
// Beside this, test_checksums.py computes all of them a second time.
#include "record/checksum.hpp"

#include <doctest/doctest.h>

#include "record/crc32.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

TEST_CASE("CRC-32 is the one that everybody has, in one part or in several") {
    Crc32 crc;
    CHECK(crc.value() == 0);
    crc.add(std::string_view("1234"));
    crc.add(std::string_view("56789"));
    CHECK(crc.value() == 0xCBF43926); // the check value of its definition
    Crc32 texts;
    texts.add_text("");
    texts.add_text("ab");
    texts.add_count(0x0102);
    Crc32 bytes;
    bytes.add(std::string_view("\0ab\0\x02\x01\0\0\0\0\0\0", 12));
    CHECK(texts.value() == bytes.value());
}

TEST_CASE("a group's checksum is over names and values, whatever their type, layout and number of parts") {
    const test::TemporaryFolder folder;
    const auto make = [&](const char* name, h5::Storage storage) {
        const h5::File file = h5::File::create(folder / name);
        const h5::Group group = file.create_group("pairs");
        // More than one part of 16 MiB, in the second dimension.
        const std::vector<std::int64_t> many(3 * 1'500'000, 7);
        group.create_dataset("z", {h5::Kind::int64}, {1, 3, 1'500'000}, storage)
            .write(std::span<const std::int64_t>(many));
        group.create_dataset("a", {h5::Kind::text}, {2}).write_text({"x", ""});
        group.create_dataset("checksum", {h5::Kind::int64}, {});
        return checksum_of(group);
    };
    Crc32 expected;
    expected.add_text("a");
    expected.add(std::string_view("x\0\0", 3));
    expected.add_text("z");
    for (int i = 0; i < 3 * 1'500'000; ++i) expected.add_count(7);
    CHECK(make("one.h5", h5::Storage::contiguous) == expected.value());
    CHECK(make("two.h5", h5::Storage::compressed) == expected.value());
}
