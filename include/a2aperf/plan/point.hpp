// SPDX-License-Identifier: BSD-3-Clause
// One cell of the sweep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/due_times.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

enum class Role { measure, baseline, sentinel, pair, stream, echo, open_loop };
enum class Post { before, inside };

std::string_view to_string(Role role);
std::string_view to_string(Post post);

// Whom one rank sends to and receives from, in the order of posting.
struct Peers {
    std::vector<Rank> sends, receives;
};

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

// Of a rank that is both ends of a stream: both in its one thread, or each in one of its own.
enum class Threads { one, each };
std::string_view to_string(Threads threads);

// Of a point that runs for a duration.
struct Stream {
    std::string pairs; // as asked for
    bool is_duplex = false;
    std::vector<StreamPair> who;
    Nanoseconds duration = 0;
    std::int64_t messages = -1; // of each sender; -1 = until the duration has passed
    FreeDelay free_delay{};
    InjectUse inject = InjectUse::automatic;
    CompletionLevel completion = CompletionLevel::as_provider;
    int cq_mod = 1; // one message of so many to a receiver asks for the completion of its send
    bool traces = false;
    Threads threads = Threads::one;

    // Something of its sends' completions: then none is injected.
    bool asks() const { return completion != CompletionLevel::as_provider || cq_mod > 1; }
    // "halves both ways pause 10 ms/1000 inject off completion delivery cq-mod 16 threads each"
    std::string label() const;
};

// Of round trips: each request is answered, by a message of the point's size.
struct Echo {
    int outstanding = 1; // requests of a client to one server that may be under way
    Bytes request_size = 0;
    std::int64_t rate = 0; // requests that are due per second, of each pair; 0 = they go at once
    Arrivals arrivals = Arrivals::even;

    bool is_paced() const { return rate > 0; }
};

struct Point {
    Role role = Role::measure;
    std::string mode;                   // transfer mode; "collective" for the baseline
    const Schedule* schedule = nullptr; // null for the baseline
    int window = 0;                     // outstanding sends, or reads; 0 = all
    Bytes message_size = 0;
    Post post = Post::before;
    int distance = 0;        // 0: every peer; d: the one step in which rank r sends to (r + d) mod R
    Rank only_sender = -1;   // with a distance: all ranks but this one and its receiver are idle; -1 = none is
    std::string memory;      // kind of its messages' pages; empty: the only one of the launch
    int channels = 1;        // of each rank, over which it is measured
    int partner = -1;        // index of the point measured in alternation with this one
    Stream stream{};         // of role stream, and of round trips: from whom requests go to whom
    Echo echo{};             // of round trips
    std::string skip_reason; // empty = measured

    bool is_baseline() const { return role == Role::baseline; }
    // One of those that "24 points" means: a sentinel is one of them once more, a baseline belongs to one.
    bool is_counted() const { return role != Role::sentinel && role != Role::baseline; }
    bool is_skipped() const { return !skip_reason.empty(); }
    bool is_round_trips() const { return role == Role::echo || role == Role::open_loop; }
    bool is_duration() const { return role == Role::stream || is_round_trips(); } // not made of ops
    std::string_view schedule_name() const;                                       // of a duration: none
    // Messages that a rank sends in one op; their places are all different where memory allows.
    int messages_per_rank(int ranks) const { return distance > 0 ? 1 : ranks; }
    Bytes buffer_bytes(int ranks) const; // of each message buffer, with a place for all of them
    // Of a stream, by the rank that has most: receives that are posted at a time, of messages and credits, those of
    // messages alone, sends that may be under way, and what all of them take of each buffer.
    struct StreamRoom {
        int receives = 0, messages = 0, sends = 0;
    };
    StreamRoom stream_room() const;
    Bytes stream_bytes() const;
    Bytes largest_message() const { return std::max(message_size, echo.request_size); }
    Point of_requests() const; // of round trips: the same with the requests' size
    int echo_receives() const; // of requests and answers that are posted at a time by the rank that has most
    Bytes echo_bytes() const;
    Peers peers(Rank rank, const Layout& layout, std::uint64_t seed) const; // not of a baseline
    // For messages: "tagged shift window all 60000 B"; "tagged shift by 3 60000 B" for one step of it;
    // "collective library 60000 B" for a baseline.
    std::string label() const;
};

} // namespace a2aperf
