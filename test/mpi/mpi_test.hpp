// SPDX-License-Identifier: BSD-3-Clause
// What the programs of MPI tests share: every rank runs every case, and the launch fails when a rank does.
#pragma once

#include <doctest/doctest.h>

#include "a2aperf/job/job.hpp"

namespace a2aperf::test {

// The job of this process. The test program's first argument `--shuffle=SEED` renumbers its ranks.
Job& job();

// The seed of --shuffle.
RankShuffle shuffle();

// For a program's last case: a signal to stop stays, and no rank waits for others when it has come. Each then ends
// with its own status.
void expect_a_signal();

} // namespace a2aperf::test
