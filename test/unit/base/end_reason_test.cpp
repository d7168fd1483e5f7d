// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/end_reason.hpp"

#include <csignal>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

TEST_CASE("an error's type tells why a launch ended, not its words") {
    CHECK(reason_of(RunError("out of memory")) == EndReason::other);
    CHECK(reason_of(RunError("x", EndReason::bad_data)) == EndReason::bad_data);
    CHECK(reason_of(Interrupted(SIGTERM)) == EndReason::signal);
    CHECK(reason_of(std::bad_alloc()) == EndReason::out_of_memory);
    CHECK(reason_of(std::runtime_error("No space left on device")) == EndReason::other);
}

TEST_CASE("an error of the system's is told by its code") {
    const auto of = [](int code) { return reason_of(std::system_error(code, std::generic_category())); };
    CHECK(of(ENOSPC) == EndReason::disk_full);
    CHECK(of(EDQUOT) == EndReason::disk_full);
    CHECK(of(EFBIG) == EndReason::disk_full);
    CHECK(of(ENOMEM) == EndReason::out_of_memory);
    CHECK(of(ECONNRESET) == EndReason::peer_lost);
    CHECK(of(ETIMEDOUT) == EndReason::fabric_deadline);
    CHECK(of(EIO) == EndReason::other);
    const std::filesystem::filesystem_error renaming("rename", std::error_code(ENOSPC, std::system_category()));
    CHECK(reason_of(renaming) == EndReason::disk_full);
}

TEST_CASE("every reason has a word") {
    CHECK(kEndReasons[static_cast<std::size_t>(EndReason::running)] == "running");
    CHECK(kEndReasons[static_cast<std::size_t>(EndReason::disk_full)] == "disk-full");
    CHECK(kEndReasons.size() == static_cast<std::size_t>(EndReason::other) + 1);
}
