// SPDX-License-Identifier: BSD-3-Clause
// While rank 0 is at its file the others wait longer than they do for each other: a disk may be slow, and nobody is
// to be accused for it.
#pragma once

#include <algorithm>
#include <limits>

#include "a2aperf/job/job.hpp"

namespace a2aperf {

// As long as it lives. Collective: all ranks make one, rank 0 right before it goes to the file.
class FileDeadline {
public:
    explicit FileDeadline(Job& job) : job_(job), timeout_(job.timeout()) {
        bool is_root_here = true; // which has had no more time than any other rank so far
        job.broadcast(is_root_here);
        job.set_timeout(std::min(timeout_, kLongest / kTimes) * kTimes);
    }
    ~FileDeadline() { job_.set_timeout(timeout_); }
    FileDeadline(const FileDeadline&) = delete;
    FileDeadline& operator=(const FileDeadline&) = delete;

private:
    static constexpr Nanoseconds kTimes = 60; // an hour, unless --timeout says otherwise
    static constexpr Nanoseconds kLongest = std::numeric_limits<Nanoseconds>::max() / 4; // moments are added to it
    Job& job_;
    Nanoseconds timeout_;
};

} // namespace a2aperf
