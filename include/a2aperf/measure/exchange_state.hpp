// SPDX-License-Identifier: BSD-3-Clause
// What one rank knows of its op under way: what is posted, what has completed, and, in words, what is missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/fabric/endpoint.hpp"
#include "a2aperf/measure/deadline.hpp"
#include "a2aperf/measure/op_names.hpp"
#include "a2aperf/stats/samples.hpp"
#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

// When each half of an op was over, on this rank's clock.
struct Moments {
    Nanoseconds send_done; // kNoMoment: nothing tells
    Nanoseconds receive_done;
};

// In verification ops: receives for what is one too many.
enum class Strays {
    from_any, // one, for a message of any rank
    from_each // one for each rank, where the provider must not be given a wildcard
};

// Whether messages go by the provider's inject path.
enum class Inject {
    never,
    silent,  // without a completion: nothing that a window could count
    counted, // with one
    asking   // never, and each asks for its completion, as an endpoint wants that gives those alone
};

// In modes that tell by flags: what a message's flag is posted behind.
enum class FlagBehind {
    post,    // of the message: the endpoint orders writes of its size
    delivery // of the message, which its completion tells
};

struct ExchangeSettings {
    int window = 0; // outstanding sends, or reads where receivers start the transfers; 0 = all
    Inject inject = Inject::never;
    bool posts_receives = true; // calls the mode's receive() for every message that is due
    Strays strays = Strays::from_any;
    bool traces = false; // notes when each message arrives, and where
    FlagBehind flag_behind = FlagBehind::post;
    bool follows_on = false; // its ops have no common start: messages of the next one may come in this one
    int stages = 1;          // exchanges that make an op together: the n-th has the number op x stages + n
    std::function<void(Rank)> on_flag{}; // in traced ops: called with the source when its flag is seen
    const OpNames* names = nullptr;      // what messages call ops by; none: by their numbers
};

// Slots [0, R) belong to the arrivals from each rank, those above to the sends in their order, those above to the
// receives for strays. Where receivers start the transfers there are no sends, and a route of receives_ is a read.
class ExchangeState {
public:
    // sends and receives: peers in the order of posting. way: how a message arrives in the mode at hand.
    ExchangeState(const TransferContext& context, const Endpoint& endpoint, Arrival way,
                  const std::vector<Rank>& sends, const std::vector<Rank>& receives, ExchangeSettings settings,
                  Deadline& deadline);
    ExchangeState(ExchangeState&&) = default; // routes point to slots, which stay where they are

    // In the op at hand: how often a message of each rank has arrived, [R].
    std::vector<std::uint32_t> arrivals() const;

    // Has its message arrived?
    bool has_arrived(Rank source) const { return extra_completions_[static_cast<std::size_t>(source)] != kDue; }

    // When it arrived, on this rank's clock, [R]; -1 = none. Empty when nothing is traced.
    std::span<const Nanoseconds> arrival_times() const { return arrived_at_; }

    // Where the message of a rank has arrived in the op at hand; of modes whose receives take any, of traced ops
    // only.
    std::byte* place_of(Rank source) const;

    std::string op_name() const;                       // of the op at hand
    std::string waiting_for() const;                   // "messages from rank 1, 4 and its sends to rank 2"
    [[noreturn, gnu::cold]] void fail_timeout() const; // RunError that has both
    // Of what the queue said when it was read: RunErrors that name the op, and who waits for whom.
    [[noreturn, gnu::cold]] void fail_completion(ssize_t status) const;
    [[noreturn, gnu::cold]] void fail_completion(const CompletionError& error) const;

    static constexpr std::size_t kBatch = 16; // that one reading of the queue brings at most

protected:
    static constexpr std::int32_t kDue = -1; // in extra_completions_

    // The two kinds of slots, and of what is counted. Below 0: one too many came.
    enum Kind : std::size_t { arrival, send };

    std::string name_of(Rank index) const; // "rank 3", of messages that are cut "rank 3 (chunk 2)"
    bool is_over() const { return kinds_left_ == 0; }
    bool has_flag(Rank source) const; // of the op at hand
    const Route* sends_end() const { return sends_.data() + sends_.size(); }
    const Route* receives_end() const { return receives_.data() + receives_.size(); }
    // The transfers of this kind that may be started by now: in flight are all that were but those that have
    // completed.
    const Route* window_end(const std::vector<Route>& routes, Kind kind) const {
        const std::int32_t completed = total_[kind] - left_[kind];
        return settings_.window == 0 ? routes.data() + routes.size()
                                     : routes.data() + std::min(total_[kind], completed + settings_.window);
    }

    void take_stray(std::size_t slot);
    // The same, or a message of the op after this one where its data name the op.
    [[gnu::cold]] void take_other(std::size_t slot, const fi_cq_data_entry& entry);
    void note_place(std::size_t source, const void* context); // of the receive that took its message
    // The same.
    [[noreturn, gnu::cold]] void fail_double(std::size_t slot) const;
    [[noreturn, gnu::cold]] void fail(ssize_t status, const char* call, Rank peer) const;

    TransferContext context_;
    const Endpoint* endpoint_;
    fid_cq* queue_;
    Arrival arrival_;
    ExchangeSettings settings_;
    Deadline* deadline_;
    std::size_t ranks_;
    std::vector<Slot> slots_;
    // In this op, by slot, arrivals from each rank and then sends: the completions beyond the one that is due, -1
    // before it came. Counted so that the addition itself tells a second one: this runs for every message.
    std::vector<std::int32_t> extra_completions_;
    std::vector<Nanoseconds> arrived_at_; // by source; empty when nothing is traced
    std::vector<std::byte*> places_;      // by source: where its message lies
    std::vector<char> early_;             // by source: its message of the next op is here; empty where none can be
    std::size_t known_slots_;             // those that are counted: all but those for strays
    std::vector<Route> sends_;
    std::vector<Route> receives_;
    std::vector<Rank> strays_; // the rank that each is for; our own: for any
    std::array<fi_cq_data_entry, kBatch> entries_{};
    std::uint64_t op_ = 0;
    const Route* next_send_ = nullptr; // to post
    const Route* next_receive_ = nullptr;
    std::array<std::int32_t, 2> total_, left_{}; // of each kind, in an op and to complete
    int kinds_, kinds_left_ = 0;                 // that an op has, and that are not complete
    std::array<Nanoseconds, 2> completed_at_{};  // when the last of each kind did
    std::uint32_t strays_left_ = 0;
    // In modes that tell by flags. Routes of receives_, those first whose flags are yet to be seen; and of sends_,
    // in the order in which their flags may be posted, those first that were.
    std::vector<const Route*> sources_, ready_;
    std::size_t unseen_ = 0, told_ = 0;
    std::size_t put_ = 0; // of entries_, by another that reads the queue
};

} // namespace a2aperf
