// SPDX-License-Identifier: BSD-3-Clause
// Whether a file that others had in their hands, or a disk, is what was written: its shapes before it is read, and
// then its points.
#include <fmt/format.h>

#include "checksum.hpp"
#include "crc32.hpp"
#include "results_file.hpp"

namespace a2aperf {
namespace {

// Nothing that is stored grows more than this when it is unpacked (deflate's limit is 1032).
constexpr std::uint64_t kMostUnpacked = 1100;

// Whether a point's attempts are there: neither more than the file has room for, nor more than its bytes can hold.
bool has_attempts(const ResultsFile& results, std::int64_t made) {
    const std::uint64_t room = results.raw.stored_bytes() * kMostUnpacked;
    return made >= 0 && made <= results.extents.attempts &&
           static_cast<std::uint64_t>(made) * results.extents.r() * sizeof(Nanoseconds) <= room;
}

void require_attempts(const ResultsFile& results) {
    const std::vector<State> states = results.columns.states();
    const std::vector<Value> attempts = results.columns.read("attempts");
    for (std::size_t p = 0; p < states.size(); ++p) {
        if (states[p] < State::pending || states[p] > State::failed)
            results.file.throw_unreadable(
                fmt::format("has the unknown state {} at point {}", static_cast<int>(states[p]), p));
        const std::int64_t made = std::get<std::int64_t>(attempts[p]);
        // By its checksum such a point is told from others; the rest of the file is good.
        if (!has_samples(states[p]) || results.columns.has_checksums()) continue;
        if (!has_attempts(results, made))
            results.file.throw_unreadable(fmt::format("has no samples for the {} attempts of point {}", made, p));
    }
}

// As a row of samples says it that has been written and whose state has not.
State state_of_ops(std::int64_t ops) {
    return ops > 0 ? State::complete : State::failed;
}

bool holds(const PointChecksums& checksums, int point, std::int64_t checksum) {
    try {
        return checksums.of(point) == checksum;
    } catch (const h5::Unreadable&) {
        return false; // a sector that is gone, or what does not unpack
    }
}

} // namespace

ResultsFile::Reliable ResultsFile::reliable() const {
    Reliable found{columns.states(), {}};
    if (!columns.has_checksums()) return found;
    const std::vector<std::int64_t> written = columns.checksums();
    const std::vector<Value> ops = columns.read("ops");
    const std::vector<Value> attempts = columns.read("attempts");
    const PointChecksums checksums(file, extents.points);
    for (std::size_t p = 0; p < found.states.size(); ++p) {
        State& state = found.states[p];
        const bool may_wait = state == State::pending && written[p] != kNoChecksum;
        if (!has_samples(state) && !may_wait) continue;
        const int point = static_cast<int>(p);
        const bool is_right =
            has_attempts(*this, std::get<std::int64_t>(attempts[p])) && holds(checksums, point, written[p]);
        if (!is_right && has_samples(state)) found.damaged.push_back(point);
        state = is_right ? state_of_ops(std::get<std::int64_t>(ops[p])) : State::pending;
    }
    return found;
}

void ResultsFile::write_checksums() const {
    const std::vector<State> states = columns.states();
    const PointChecksums checksums(file, extents.points);
    for (std::size_t p = 0; p < states.size(); ++p) {
        const int point = static_cast<int>(p);
        if (states[p] != State::pending) columns.write_checksum(point, checksums.of(point));
    }
}

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
