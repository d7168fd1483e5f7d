// SPDX-License-Identifier: BSD-3-Clause
// Whether a file that others had in their hands, or a disk, is what was written: its shapes before it is read, and
// then its points.
#include <fmt/format.h>

#include "checksum.hpp"
#include "crc32.hpp"
#include "results_file.hpp"

namespace a2aperf {
namespace {

// By its checksum a row is told from others, and the rest of such a file is good: see reliable().
void require_attempts(const ResultsFile& results) {
    if (results.columns.has_checksums()) return;
    const std::vector<State> states = results.columns.states();
    const std::vector<Made> made = results.made();
    for (std::size_t p = 0; p < states.size(); ++p) {
        if (states[p] < State::pending || states[p] > State::failed)
            results.file.throw_unreadable(
                fmt::format("has the unknown state {} at point {}", static_cast<int>(states[p]), p));
        if (has_samples(states[p]) && !results.raw.can_hold(made[p]))
            results.file.throw_unreadable(
                fmt::format("has no samples for the {} attempts of point {}", made[p].attempts, p));
    }
}

// What a row's state follows from.
struct Outcome {
    std::int64_t ops;
    Made made;
    bool has_reason; // to be skipped
};

// Of a row whose checksum is right: what was written, whatever the byte says that no checksum covers.
State state_of(const Outcome& row, State said) {
    if (row.ops > 0) return State::complete;
    if (row.made.attempts > 0) return State::failed;
    return row.has_reason || said == State::skipped ? State::skipped : State::failed;
}

// A merged file has -1 attempts of a point that was skipped.
bool has_samples_of(const ResultsFile& results, const Outcome& row) {
    const bool is_skipped = row.made.attempts < 0 && row.ops <= 0 && row.has_reason;
    return is_skipped || results.raw.can_hold(row.made);
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
    Reliable found{columns.states(), {}, {}, {}};
    if (!columns.has_checksums()) return found;
    found.asked = columns.damaged_asked();
    const std::vector<std::int64_t> written = columns.checksums();
    const std::vector<Value> ops = columns.read("ops");
    const std::vector<Made> made = this->made();
    const std::vector<Value> reasons = columns.read("skip_reason");
    const PointChecksums checksums(file, extents.points);
    for (std::size_t p = 0; p < found.states.size(); ++p) {
        const State said = found.states[p];
        if (said == State::pending && written[p] == kNoChecksum) continue;
        const int point = static_cast<int>(p);
        const Outcome row{std::get<std::int64_t>(ops[p]), made[p], !std::get<std::string>(reasons[p]).empty()};
        const bool is_right = has_samples_of(*this, row) && holds(checksums, point, written[p]);
        const State state = is_right ? state_of(row, said) : State::pending;
        found.states[p] = state;
        if (said == State::pending || said == state) continue;
        (is_right ? found.misnamed : found.damaged).push_back(point);
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
    if (extents.points < 1 || extents.attempts < 1 || extents.ticks < 0 || extents.buckets < 0 ||
        extents.ranks < 1 || extents.nodes < 1)
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
