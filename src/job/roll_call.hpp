// SPDX-License-Identifier: BSD-3-Clause
// Among ranks that wait in vain: who does not wait as they do.
#pragma once

#include <mpi.h>

#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class RollCall {
public:
    struct Answer {
        std::vector<int> missing;
        bool is_heard; // a listener, or this is one
    };

    // Every rank that waits tells the listeners, ranks 0 and 1, and these tell it a second later whom they have not
    // heard. Who hears from no listener names these. Errors of MPI are of no interest here: whom we do not hear of
    // is missing, and the failure that made us ask is told. Takes up to three seconds.
    Answer ask(MPI_Comm comm);

private:
    static constexpr int kListeners = 2; // one of them may be the missing one
    static constexpr Nanoseconds kGrace = 1'000'000'000;
    // A listener has begun to wait later than who asks it, by the rest of its op.
    static constexpr Nanoseconds kForAnswer = 2 * kGrace;

    static void listen(MPI_Comm comm, std::vector<bool>& is_here);
    static bool hear_answer(MPI_Comm comm, std::vector<int>& missing);

    std::vector<int> missing_; // MPI may read it until the end
};

} // namespace a2aperf
