// SPDX-License-Identifier: BSD-3-Clause
#include "leftovers.hpp"

#include <array>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/terminal.hpp"

namespace a2aperf {

void tell_removed(const Job& job, const RemovedSegments& mine) {
    const std::array<std::int64_t, 2> own{mine.files, static_cast<std::int64_t>(mine.bytes)};
    const auto of_rank = job.gather<std::int64_t>(own);
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::set<std::string> nodes;
    for (std::size_t rank = 0; 2 * rank < of_rank.size(); ++rank) {
        if (of_rank[2 * rank] == 0) continue;
        files += of_rank[2 * rank];
        bytes += of_rank[2 * rank + 1];
        nodes.insert(job.host(static_cast<Rank>(rank)));
    }
    if (files == 0) return;
    tell(fmt::format("a2aperf: removed {} ({}) that killed launches left in /dev/shm on {}{}",
                     counted(files, "shared memory file"), format_bytes(static_cast<Bytes>(bytes)), *nodes.begin(),
                     nodes.size() > 1 ? fmt::format(" and {}", counted(std::ssize(nodes) - 1, "other node")) : ""));
}

} // namespace a2aperf
