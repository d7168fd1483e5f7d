// SPDX-License-Identifier: BSD-3-Clause
#include "record/trailer.hpp"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

void write(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("a trailer is 64 bytes that say how many bytes are before it, and their checksum") {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "a.h5";
    write(file, "123456789");
    append_trailer(file);
    CHECK(bytes_of(file) == "123456789a2aperf digest v1 crc32=cbf43926 bytes=000000000000000000000009\n");
    CHECK(look_at_trailer(file) == Trailer::right);
}

TEST_CASE("any byte that is another makes the trailer wrong, and one that was cut off is none") {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "a.h5";
    std::string content(3'000'000, 'x'); // more than is read at once
    write(file, content);
    CHECK(look_at_trailer(file) == Trailer::none);
    append_trailer(file);
    const std::string good = bytes_of(file);
    CHECK(look_at_trailer(file) == Trailer::right);
    for (const std::size_t place : {std::size_t{0}, std::size_t{1'500'000}, content.size() - 1, content.size(),
                                    content.size() + 24, content.size() + 50, good.size() - 1}) {
        std::string bad = good;
        bad[place] ^= 4;
        write(file, bad);
        CAPTURE(place);
        CHECK(look_at_trailer(file) == Trailer::wrong);
    }
    write(file, good + "x");
    CHECK(look_at_trailer(file) == Trailer::wrong);
    write(file, good.substr(1));
    CHECK(look_at_trailer(file) == Trailer::wrong);
    write(file, good.substr(0, content.size()));
    CHECK(look_at_trailer(file) == Trailer::none);
    write(file, "");
    CHECK(look_at_trailer(file) == Trailer::none);
    CHECK(look_at_trailer(folder / "missing") == Trailer::none);
}
