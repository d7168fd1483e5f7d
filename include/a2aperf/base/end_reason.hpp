// SPDX-License-Identifier: BSD-3-Clause
// Why a launch ended, as the results file says it (docs/file-format.md, end_reason).
#pragma once

#include <array>
#include <exception>
#include <string_view>

namespace a2aperf {

enum class EndReason {
    running,
    finished,
    signal,
    peer_lost,
    fabric_deadline,
    disk_deadline,
    bad_data,
    out_of_memory,
    disk_full,
    other
};

// In the order of EndReason.
constexpr std::array<std::string_view, 10> kEndReasons{
    "running",       "finished", "signal",        "peer-lost", "fabric-deadline",
    "disk-deadline", "bad-data", "out-of-memory", "disk-full", "other"};

// By what was thrown: a RunError says it, of other errors the type and the code of the system do.
EndReason reason_of(const std::exception& error);

// Of an errno, which libfabric's codes below 256 are too.
EndReason reason_of(int error_number);

} // namespace a2aperf
