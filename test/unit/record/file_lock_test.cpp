// SPDX-License-Identifier: BSD-3-Clause
#include "record/file_lock.hpp"

#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <doctest/doctest.h>

#include "launch.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

// What is said where another has the file.
std::string said(FileLock (*take)(const std::filesystem::path&, const std::filesystem::path&),
                 const std::filesystem::path& file) {
    return test::complaint([&] { take(file, "its name"); });
}

class Reader {
public:
    explicit Reader(const std::filesystem::path& file, int flags = O_RDONLY, int kind = LOCK_SH)
        : descriptor_(open(file.c_str(), flags)), has_lock_(flock(descriptor_, kind | LOCK_NB) == 0) {
    } // as HDF5 does
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { close(descriptor_); }
    bool has_lock() const { return has_lock_; }

private:
    int descriptor_;
    bool has_lock_;
};

constexpr const char* kLaunch = "its name is being written by another launch";

} // namespace

TEST_CASE("one holder at a time, until its end") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a";
    {
        const FileLock first = FileLock::creating(file, file);
        CHECK(said(FileLock::creating, file) == kLaunch);
        CHECK(said(FileLock::existing, file) == kLaunch);
    }
    const FileLock next = FileLock::existing(file, file);
    CHECK(said(FileLock::existing, file) == kLaunch);
}

TEST_CASE("readers lock at any time, and are in no launch's way") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a";
    std::optional<FileLock> lock = FileLock::creating(file, file);
    const Reader while_written(file);
    CHECK(while_written.has_lock());
    CHECK(said(FileLock::existing, file) == kLaunch);
    lock.reset();
    CHECK(said(FileLock::existing, file).empty());
    const FileLock again = FileLock::existing(file, file);
    CHECK(Reader(file).has_lock());
    CHECK(said(FileLock::existing, file) == kLaunch);
}

TEST_CASE("a program that writes keeps launches out, and is kept out by one") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a";
    {
        const FileLock lock = FileLock::creating(file, file);
        CHECK_FALSE(Reader(file, O_RDWR, LOCK_EX).has_lock());
    }
    const Reader writer(file, O_RDWR, LOCK_EX);
    REQUIRE(writer.has_lock());
    CHECK(test::contains(said(FileLock::existing, file), "its name is in use by another program"));
}

TEST_CASE("a file that isn't there can't be locked as existing") {
    const test::TemporaryFolder folder;
    CHECK_THROWS_AS(FileLock::existing(folder / "a", folder / "a"), std::system_error);
}
