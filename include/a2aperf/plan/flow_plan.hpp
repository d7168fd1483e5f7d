// SPDX-License-Identifier: BSD-3-Clause
// What a point that runs for a duration adds to the cell of a sweep: whole it is known to its workload alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

struct Point;

// By the rank that has most: receives that are posted at a time, those of messages alone, and sends under way.
struct FlowRoom {
    int receives = 0, messages = 0, sends = 0;
};

// What is verified before a point runs: messages of this size, over this one of its channels.
struct VerifiedSize {
    int channel;
    Bytes size;
    std::string mode{}; // empty: the point's
};

// A transfer mode that some of a point's messages go by, and the size of the largest of these.
struct FlowMode {
    std::string mode;
    Bytes size;
};

class FlowPlan {
public:
    std::string pairs; // as asked for
    std::vector<StreamPair> who;
    Nanoseconds duration = 0;
    std::int64_t messages = -1; // of each sender; -1 = until the duration has passed

    virtual ~FlowPlan() = default;

    // For messages: "tagged stream halves window 32 8 B".
    virtual std::string label(const Point& point) const = 0;

    virtual FlowRoom room(const Point& point) const = 0;
    virtual Bytes bytes(const Point& point) const = 0;                    // of each message buffer
    virtual std::string in_buffers(const Point& point) const = 0;         // "32 messages and the credits"
    virtual std::string_view posted() const = 0;                          // what receives wait for
    virtual Bytes other_size(const Point& point) const;                   // of its messages, where they have two
    virtual int threads(const Point& point) const;                        // of each rank: one a channel
    virtual std::vector<VerifiedSize> verified(const Point& point) const; // every size that it has
    virtual std::vector<FlowMode> modes(const Point& point) const;        // each once
    virtual bool leaves_completions_out() const { return false; }         // some of its sends complete nowhere

protected:
    FlowPlan() = default;
    FlowPlan(const FlowPlan&) = default;
    FlowPlan& operator=(const FlowPlan&) = default;
};

} // namespace a2aperf
