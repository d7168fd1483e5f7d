// SPDX-License-Identifier: BSD-3-Clause
// ResultsFile::require_sound: a file that others had in their hands is asked about its shapes before it is read.
#include <fmt/format.h>

#include "results_file.hpp"

namespace a2aperf {
namespace {

// Nothing that is stored grows more than this when it is unpacked (deflate's limit is 1032).
constexpr std::uint64_t kMostUnpacked = 1100;

// Every point's attempts are there: neither more than the file has room for, nor more than its bytes can hold.
void require_attempts(const ResultsFile& results) {
    const std::vector<State> states = results.columns.states();
    const std::vector<Value> attempts = results.columns.read("attempts");
    const std::uint64_t room = results.raw.stored_bytes() * kMostUnpacked;
    for (std::size_t p = 0; p < states.size(); ++p) {
        if (states[p] < State::pending || states[p] > State::failed)
            results.file.throw_unreadable(
                fmt::format("has the unknown state {} at point {}", static_cast<int>(states[p]), p));
        const std::int64_t made = std::get<std::int64_t>(attempts[p]);
        if (!has_samples(states[p])) continue;
        const bool fits = made >= 0 && made <= results.extents.attempts &&
                          static_cast<std::uint64_t>(made) * results.extents.r() * sizeof(Nanoseconds) <= room;
        if (!fits)
            results.file.throw_unreadable(fmt::format("has no samples for the {} attempts of point {}", made, p));
    }
}

} // namespace

void ResultsFile::require_sound() const {
    if (extents.points < 1 || extents.attempts < 1 || extents.ranks < 1 || extents.nodes < 1)
        file.throw_unreadable("has no points, attempts, ranks or nodes, or more than can be");
    columns.require_shapes();
    raw.require_shapes(extents);
    counters.require_shapes(extents);
    require_attempts(*this);
    const int launches = segment_count();
    for (int i = 0; i < launches; ++i)
        if (!segments.has(fmt::to_string(i).c_str())) segments.throw_unreadable(fmt::format("has no launch {}", i));
}

} // namespace a2aperf
