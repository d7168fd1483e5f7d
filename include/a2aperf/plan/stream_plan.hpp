// SPDX-License-Identifier: BSD-3-Clause
// A stream: messages one behind the other, as many under way as a window holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "a2aperf/plan/flow_plan.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {

// A pause of a receiver after every so many messages, before it frees the buffer of the last of them.
struct FreeDelay {
    Nanoseconds time = 0; // 0 = none
    std::int64_t every = 1000;
    bool operator==(const FreeDelay&) const = default;
};

// Whether messages go by the provider's inject path; automatic: where they are small enough.
enum class InjectUse { automatic, on, off };
std::string_view to_string(InjectUse use);

// What the completion of a send means: what the provider says unless it is asked, that the message has left and is
// its sender's no more, or that it is in the target's memory.
enum class CompletionLevel { as_provider, transmit, delivery };
std::string_view to_string(CompletionLevel level);

class StreamPlan final : public FlowPlan {
public:
    bool is_duplex = false;
    FreeDelay free_delay{};
    InjectUse inject = InjectUse::automatic;
    CompletionLevel completion = CompletionLevel::as_provider;
    int cq_mod = 1; // one message of so many to a receiver asks for the completion of its send
    bool traces = false;
    Threads threads = Threads::one; // of a rank that is both ends

    // Something of its sends' completions: then none is injected.
    bool asks() const { return completion != CompletionLevel::as_provider || cq_mod > 1; }
    // "halves both ways pause 10 ms/1000 inject off completion delivery cq-mod 16 threads each"
    std::string words() const;

    std::string label(const Point& point) const override;
    FlowRoom room(const Point& point) const override; // of messages and credits
    Bytes bytes(const Point& point) const override;
    std::string in_buffers(const Point& point) const override;
    std::string_view posted() const override { return "messages and credits"; }
    bool leaves_completions_out() const override { return cq_mod > 1; }
};

// Of a point that is one.
const StreamPlan& stream_of(const Point& point);

} // namespace a2aperf
