// SPDX-License-Identifier: BSD-3-Clause
// One cell of the sweep.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/flow_plan.hpp"
#include "a2aperf/plan/forwarding.hpp"
#include "a2aperf/plan/polling.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "a2aperf/plan/traffic.hpp"

namespace a2aperf {

enum class Role { measure, baseline, sentinel, search };
enum class Post { before, inside };
enum class Queues { each, one };  // of the endpoints of a rank
enum class Threads { one, each }; // that look after these: the rank's one, or each has its own

std::string_view to_string(Role role);
std::string_view to_string(Post post);
std::string_view to_string(Queues queues);
std::string_view to_string(Threads threads);

inline constexpr std::string_view kMixedModes = "mixed";    // mode of a point whose paths have several
inline constexpr std::string_view kPipelined = "pipelined"; // role of points whose ops follow one another

struct Point {
    Role role = Role::measure;
    std::string_view own_role{};        // in its place in the file, of a workload that has a word of its own
    std::string mode;                   // transfer mode; "collective" for the baseline
    const Schedule* schedule = nullptr; // null for the baseline
    int window = 0;                     // outstanding sends, or reads; 0 = all
    Bytes window_bytes = 0;             // that it follows from; 0 = it was asked for as it is
    Bytes chunk = 0;                    // what a longer message is cut into; 0 = messages are whole
    Bytes message_size = 0;
    Post post = Post::before;
    std::shared_ptr<const Traffic> traffic{};       // null: the same to every peer; else message_size is the mean
    std::shared_ptr<const MessageSteps> steps{};    // of a schedule that makes them of the traffic's matrix
    std::shared_ptr<const Forwarding> forwarding{}; // of a schedule that goes by way of leaders, at this size
    int distance = 0;      // 0: every peer; d: the one step in which rank r sends to (r + d) mod R
    Rank only_sender = -1; // with a distance: all ranks but this one and its receiver are idle; -1 = none is
    std::string memory;    // kind of its messages' pages; empty: the only one of the launch
    std::optional<PollingWay> polling{};  // how its ranks wait; nothing: as in all of the launch
    int channels = 1;                     // of each rank, over which it is measured
    Queues queues = Queues::each;         // that they have; each where there is one channel
    Threads threads = Threads::one;       // that drive them in an op; one where there is one channel
    int partner = -1;                     // index of the point measured in alternation with this one
    bool is_beside_mpi = false;           // which sends to itself, too
    std::shared_ptr<const FlowPlan> flow; // of a point that runs for a duration; null where it is made of ops
    std::string skip_reason;              // empty = measured

    bool is_baseline() const { return role == Role::baseline; }
    // One of those that "24 points" means: a sentinel is one of them once more, a baseline belongs to one.
    bool is_counted() const { return role != Role::sentinel && role != Role::baseline; }
    bool is_skipped() const { return !skip_reason.empty(); }
    bool is_pipelined() const { return own_role == kPipelined; }
    bool is_duration() const { return flow != nullptr; } // not made of ops
    std::string_view role_name() const;                  // in the file
    std::string_view schedule_name() const;              // of a duration: none
    std::string_view traffic_name() const { return traffic ? std::string_view(traffic->name()) : "uniform"; }
    Bytes bytes(Rank from, Rank to) const { return traffic ? traffic->bytes(from, to) : message_size; }
    int threads_of_rank() const; // that poll
    Bytes largest_of_op() const;
    // How many chunks the largest message of an op makes; 1 = none is cut.
    Bytes chunks() const;
    bool is_cut() const { return chunks() > 1; }
    Bytes largest_transfer() const { return is_cut() ? chunk : largest_of_op(); } // that one call moves
    Bytes place_bytes() const; // from one message to the next, of uniform traffic: with room for whole chunks
    // Messages that a rank sends in one op; their places are all different where memory allows.
    int messages_per_rank(int ranks) const { return distance > 0 ? 1 : ranks; }
    // Whether each message has a place of its own, whatever the mode and the memory.
    bool has_own_places() const { return traffic != nullptr || forwarding != nullptr; }
    Bytes buffer_bytes(int ranks) const; // of each message buffer, with a place for all of them
    Bytes other_size() const;            // that some of its messages have; message_size where all have that
    Bytes largest_message() const;
    Point of_size(Bytes size) const;
    // Of an op by its number: where its traffic is drawn anew for each, with that of this one.
    int draws() const { return traffic ? traffic->draws() : 1; } // which the ops take in turn
    Point of_op(int op, const Layout& layout) const;
    // As it is of each mode that its messages go by: itself, where that is one.
    std::vector<Point> by_modes() const;
    Peers peers(Rank rank, const Layout& layout, std::uint64_t seed) const; // not of a baseline
    // For messages: "tagged shift window all 60000 B"; "tagged shift by 3 60000 B" for one step of it;
    // "collective library 60000 B" for a baseline.
    std::string label() const;
    std::string asked_window() const;   // "all", "8", "256KiB"
    std::string window_words() const;   // "all", "8", "256KiB (4)": in force are 4
    std::string chunk_words() const;    // " chunk 64KiB (16)": so many of a message; nothing of whole messages
    std::string endpoint_words() const; // " endpoints 2 (one queue)", " endpoints 2 threads each", of several
    std::string polling_words() const;  // " poll spin", where points of the launch differ by it
    std::string memory_words() const;   // in a label: " memory huge", nothing of the default kind
};

// Whether their messages move alike, but for what their mode is: by schedule, window as it was asked for, chunk,
// endpoints and polling, at one size.
bool moves_alike(const Point& a, const Point& b);

} // namespace a2aperf
