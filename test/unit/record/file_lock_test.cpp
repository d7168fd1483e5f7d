// SPDX-License-Identifier: BSD-3-Clause
#include "record/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace a2aperf;

TEST_CASE("one holder at a time, until its end") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a";
    {
        const auto first = FileLock::creating(file);
        REQUIRE(first.has_value());
        CHECK_FALSE(FileLock::creating(file).has_value());
        CHECK_FALSE(FileLock::existing(file).has_value());
    }
    CHECK(FileLock::existing(file).has_value());
}

TEST_CASE("a shared lock lets readers lock too, and keeps writers out") {
    const test::TemporaryFolder folder;
    const auto lock = FileLock::creating(folder / "a");
    lock->share();
    const int reader = open((folder / "a").c_str(), O_RDONLY);
    CHECK(flock(reader, LOCK_SH | LOCK_NB) == 0); // as HDF5 does
    close(reader);
    CHECK_FALSE(FileLock::existing(folder / "a").has_value());
}

TEST_CASE("a file that isn't there can't be locked as existing") {
    const test::TemporaryFolder folder;
    CHECK_THROWS_AS(FileLock::existing(folder / "a"), std::system_error);
}
