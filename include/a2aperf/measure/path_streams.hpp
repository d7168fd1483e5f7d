// SPDX-License-Identifier: BSD-3-Clause
// Paths side by side: a stream each, over a channel of its own, which one thread of a rank drives in turn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/plan/path.hpp"

namespace a2aperf {

// What a rank has of one path: the sender's end, the receiver's, or nothing. Which mode it moves by is asked once
// a turn, and never for a message.
class PathEnd {
public:
    PathEnd() = default;
    virtual ~PathEnd() = default;
    PathEnd(const PathEnd&) = delete;
    PathEnd& operator=(const PathEnd&) = delete;

    virtual void prepare() = 0;
    virtual bool advance() = 0;
    virtual bool progress() = 0;
    virtual bool has_outstanding() const = 0; // a message that is under way, at the sender's end
    virtual std::int64_t sent() const = 0;
    virtual std::int64_t received() const = 0;
    virtual FlowMoments moments() const = 0;
    virtual bool injects() const = 0;
    virtual std::span<const std::int64_t> started() const = 0;
    virtual void expect(std::span<const std::int64_t> due) = 0;
    virtual bool is_drained() const = 0;
    virtual std::string waiting_for() const = 0;
    virtual void expect_sweep() = 0;
    virtual bool sweep() = 0;
};

// What DurationLoop runs. A path that gets nothing is a result, not a failure: ranks listen for one another
// (Duration::may_starve).
class PathStreams {
public:
    static constexpr std::array<std::string_view, 3> kCounters{"tick_sent", "tick_received", "tick_idle"};

    struct End {
        std::unique_ptr<PathEnd> end;
        Nanoseconds start; // of the path, from the start
        bool is_here;      // an end of it
        bool is_sender;
    };

    PathStreams(const Job& job, std::vector<End> ends);

    void prepare();
    bool advance();
    bool progress();
    bool is_over() const { return false; }
    bool has_peers() const { return false; }
    // kCounters of each path, one path after the other.
    std::span<const std::uint64_t> counters() const { return counts_; }
    std::span<const std::int64_t> started() const { return started_; }
    // Collective: each path's are its own.
    void expect(std::span<const std::int64_t> due);
    bool is_drained() const;
    std::string waiting_for() const;
    void expect_sweep();
    bool sweep();

    FlowMoments moments() const;
    bool injects() const; // all that send here
    std::span<const std::int64_t> totals() const { return totals_; }
    std::size_t paths() const { return ends_.size(); }
    bool is_here(std::size_t path) const { return ends_[path].is_here; }
    bool is_sender(std::size_t path) const { return ends_[path].is_sender; }

private:
    struct Running {
        bool is_started = false, was_empty = false;
        Nanoseconds idle = 0;
    };

    void count(std::size_t path);
    bool advance(std::size_t path, Nanoseconds now);

    const Job& job_;
    std::vector<End> ends_;
    std::vector<std::size_t> here_; // paths of which this rank has an end
    std::vector<Running> running_;
    std::vector<std::uint64_t> counts_;
    std::vector<std::int64_t> started_; // [R]: nothing; each path tells its own
    std::array<std::int64_t, 4> totals_{};
    std::size_t first_ = 0;      // in here_, of the next turn
    Nanoseconds go_ = kNoMoment; // of the first turn
    Nanoseconds turn_ = 0;       // when the last one began
    bool was_busy_ = false;      // something happened in it
};

// Why the provider cannot move messages of a point so; nothing when it can.
std::optional<std::string> path_trouble(const Offer& offer, const Point& point);

// Of these paths, each over its channel. Collective.
std::unique_ptr<Flow> make_path_streams(const EngineParts& parts, const std::vector<Path>& paths);

} // namespace a2aperf
