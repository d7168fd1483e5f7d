// SPDX-License-Identifier: BSD-3-Clause
// The processes of a launch's ranks, as far as this one can see them: on the same machine, in the same namespace of
// process ids. Which of them have ended.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/plan/layout.hpp"

namespace a2aperf {

class PeerProcesses {
public:
    // What a rank tells the others of its process.
    struct Process {
        std::uint64_t home = 0; // of machine and namespace; 0 = unknown
        std::int64_t id = 0;
    };
    static Process own();

    PeerProcesses() = default;
    // of_rank: [R]. Those that can't be seen are not watched.
    explicit PeerProcesses(std::span<const Process> of_rank);

    // Ended for certain: gone, not yet reaped, or another process has the id.
    std::vector<Rank> ended() const;

private:
    struct Watched {
        Rank rank;
        std::int64_t id;
        std::string started; // tells a process from a later one with its id
    };
    std::vector<Watched> watched_;
};

} // namespace a2aperf
