// SPDX-License-Identifier: BSD-3-Clause
// Round trips: a client sends requests to its servers, which answer each of them. How long each took is seen at the
// client: from the moment when it was sent, or from that when it was due.
#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/both_ends.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/echo_places.hpp"
#include "a2aperf/measure/echo_settings.hpp"
#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/message_number.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/pace.hpp"
#include "a2aperf/measure/relay.hpp"
#include "a2aperf/stats/samples.hpp"
#include "a2aperf/stats/time_histogram.hpp"

namespace a2aperf {

// A client has as many places for each of its servers as requests to it may be under way. A request, its answer and
// the next request are of the same place, and so it matters not in what order messages arrive. Each carries its
// number at both ends.
//
// Where messages are written, each goes into the place at the other side that has the number of its own: its data
// name that place, or a word of the place does. Where they are fetched, the word tells that one is there, and who
// is to have it reads it. The next message of a place follows what came back, so none is written or filled before
// the other side has done with what lay there.
//
// A relay is the server of each of its clients and the client of that one's server: what came in a place of the one
// goes on from the same place of the other, with the number that it came with.
template <class Mode, class Pace = AtOnce>
class EchoEngine {
public:
    static constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

    EchoEngine(const Job& job, Channel& channel, Bytes answer_size, const EchoSettings& settings);

    void reserve(std::size_t most_samples); // of round trips
    void prepare() { post_receives(); }
    // Requests are due from the one moment to the other.
    void open(Nanoseconds start, Nanoseconds end) requires(Pace::kIsPaced) {
        if constexpr (Pace::kIsPaced) // clang 14 looks inside whatever is required
            for (DueQueue& queue : pace_.queues()) queue.open(start, end, settings_.most);
    }
    bool advance() {
        if (!unposted_.empty()) [[unlikely]]
            post_receives();
        if constexpr (Pace::kIsPaced) release_due();
        if constexpr (Pace::kIsRelay) release_served();
        const bool has_sent = start_messages();
        return look() || has_sent;
    }
    bool progress() {
        if (counts_[0] != noted_) [[unlikely]]
            note_injected(now_ns());
        return look();
    }
    bool is_over() const {
        return settings_.most >= 0 && (Pace::kIsRelay || totals_[kTrips] == asked() * settings_.most) &&
               answered_ == answering() * settings_.most;
    }
    bool has_peers() const { return !sides_.empty(); }
    std::span<const std::uint64_t> counters() const { return counts_; }
    std::span<const std::int64_t> started() const { return started_; }
    void expect(std::span<const std::int64_t> due) {
        due_ = std::accumulate(due.begin(), due.end(), std::int64_t{0});
    }
    bool is_drained() const {
        return under_way_ == 0 && missing() == 0 && unposted_.empty() && far_.untold.empty();
    }
    std::string waiting_for() const;
    void see_peers(std::vector<PeerSeen>& seen) const;
    // Requests and answers of all that a peer may have to do with, as they leave and as they come, and as many
    // again.
    std::uint64_t most_ahead() const {
        return 4 * static_cast<std::uint64_t>(settings_.outstanding * job_.ranks());
    }
    Nanoseconds longest_pause() const { return settings_.longest_gap; }

    bool injects() const { return settings_.injects_requests && settings_.injects_answers; }
    FlowMoments moments() const { return moments_; }
    // Of this client: round trips, ns of all, ns that its places were idle and that requests without an answer were
    // under way, ns from the first request to the last answer, ns of the shortest and of the longest, places. Where
    // requests have a rate: how many were due and for how long they came at it, the most that were due to a server
    // and not sent, and ns that requests with an answer had been due until they were sent; then those of a relay.
    std::span<const std::int64_t> totals() const { return totals_; }
    // Of the first round trips: when the request was sent, or was due, and the time of each from then on; where
    // they have a rate also how long each was due until it was sent, and whether because there was no place for it.
    // And the histogram of all, and what is noted at both ends. Of a relay: when requests came, and how long each
    // was here until it was sent on.
    KeptSamples kept() const;

    // Takes up the receives that are still posted, with messages that nobody counts.
    void expect_sweep();
    bool sweep();

private:
    enum Total : std::size_t {
        kTrips,
        kTime,
        kIdle,
        kOpen,
        kSpan,
        kShortest,
        kLongest,
        kPlaces,
        kDue,
        kDueTime,
        kBehind,
        kWaited,
        kRelay, // as Relayed::totals() has them
        kTotals = kRelay + 4
    };
    static constexpr bool kHasRate = Pace::kIsPaced || Pace::kIsRelay;
    static constexpr std::size_t kOwnTotals = kHasRate ? kTotals : kDue;
    static constexpr bool kIsPooled = !takes_by_source(Mode::kArrival); // any receive takes any message
    static constexpr bool kPostsReceives = posts_receives(Mode::kArrival);
    static constexpr bool kHasFlags = Mode::kArrival == Arrival::flag;
    static constexpr bool kIsFetched = Mode::kInitiator == Initiator::receiver;
    static constexpr bool kHasWords = kHasFlags || kIsFetched;

    struct RequestSlot : Pace::OfRequest {
        int side = 0;
        int index = 0;             // of the side's places
        std::int64_t received = 0; // messages
        Nanoseconds since = 0;     // of a client: when the request was sent, or the last answer came
        Nanoseconds idle = 0;      // before that request
        bool is_asking = false;    // it has no answer yet
        bool is_sending = false;   // a send has not completed yet
        bool is_due = false;       // a message is to be sent
    };
    // What this rank is to one peer.
    struct Side {
        Rank peer;
        bool asks;
        std::uint64_t op_out, op_in; // of the first place
        TransferContext out, in;
        bool injects;
        std::int64_t started = 0; // messages
        int to_take_up = 0;       // of its peer's receives, at the end
    };

    int asked() const { return static_cast<int>(std::ssize(settings_.servers)); }
    int answering() const { return static_cast<int>(std::ssize(settings_.clients)); }
    int places() const { return static_cast<int>(std::ssize(places_)); }
    std::span<RequestSlot> asking_places() {
        return std::span(places_).first(settings_.servers.size() * static_cast<std::size_t>(settings_.outstanding));
    }
    Side make_side(bool asks, Rank peer, const TransferContext& any) const;
    void add_side(bool asks, Rank peer, const TransferContext& any);

    std::int64_t missing() const { return due_ - static_cast<std::int64_t>(counts_[1]); }
    bool is_started(ssize_t status, const char* call, Rank peer) const;
    [[noreturn]] void fail_completion(ssize_t status) const;
    void post_receives();
    void make_ready(int index, Nanoseconds now) {
        if constexpr (Pace::kIsPaced)
            if (const auto side = static_cast<std::size_t>(place(index).side); sides_[side].asks)
                return pace_.queues()[side].free(index, now);
        ready_.push_back(index);
    }
    void release_due();
    void release_served();
    void pass_on(int place, Nanoseconds now);
    // Of a relay: the place from which that goes on which came in this one.
    int partner(int index) const {
        const int all = asked() * settings_.outstanding;
        return index < all ? index + all : index - all;
    }
    void hold_up();
    bool start_messages();
    bool send_one(int place);
    [[gnu::always_inline]] ssize_t hand_over(const Side& side, int place, const Route& to, std::uint64_t label);
    bool notes_answer(const RequestSlot& place) const {
        if constexpr (Pace::kHasBothEnds) return place.served >= 0;
        return false;
    }
    void note_request(RequestSlot& place, Nanoseconds begin);
    bool look() {
        bool has_seen = false;
        if constexpr (kHasWords) has_seen = look_at_words();
        return read_queue() || has_seen;
    }
    bool read_queue();
    void take(int place, std::uint64_t data, Nanoseconds now);
    void take_message(int place, const std::byte* message, Nanoseconds now);
    int place_of(std::uint64_t data) const;
    void note_answer(RequestSlot& place, Nanoseconds now);
    void keep(const RequestSlot& place, Nanoseconds begin, std::int64_t time);
    void note_rest();
    void note_due();
    void note_sent(int place, Nanoseconds now);
    // Of those that are injected nothing tells when they are sent: no later than this rank's next event, or its
    // end.
    void note_injected(Nanoseconds now) {
        noted_ = counts_[0];
        moments_.send_done = now;
    }
    void check_number(const Side& side, const std::byte* message, std::uint64_t number) const;

    // Where no receive is posted: echo_engine_places.hpp.
    void open_places();
    Route route_there(int place, std::byte* message, int slot);
    ssize_t write_flag(int place);
    void post_flag(int place);
    void post_flags(); // true when nothing is untold
    bool look_at_words();
    bool fetch_seen();
    bool is_told(std::size_t place) const;
    bool is_read(std::size_t place) const;
    void take_seen();
    void take_written(const fi_cq_data_entry& entry, Nanoseconds now);

    std::uint64_t number_of(std::int64_t message, int place) const {
        return static_cast<std::uint64_t>(message * settings_.outstanding + place);
    }

    RequestSlot& place(int index) { return places_[static_cast<std::size_t>(index)]; }
    Side& side_of(int index) { return sides_[static_cast<std::size_t>(place(index).side)]; }
    std::byte* at(std::byte* buffer, int place) const { return buffer + static_cast<std::size_t>(place) * stride_; }
    Route route(Rank peer, std::byte* message, int slot) {
        return {context_.peers[static_cast<std::size_t>(peer)], message, 0, 0,
                &slots_[static_cast<std::size_t>(slot)],        peer};
    }

    const Job& job_;
    Channel& channel_;
    EchoSettings settings_;
    [[no_unique_address]] Pace pace_;
    std::size_t stride_;
    TransferContext context_;                      // of receives that take either
    std::vector<Side> sides_;                      // those that ask come first
    std::vector<RequestSlot> places_;              // as many of each side, in their order
    std::vector<int> ready_;                       // places of which a message is to be sent and can be
    std::array<std::vector<int>, 2> side_of_rank_; // [R], that answer and that ask; -1 = none
    std::vector<std::int64_t> started_;            // [R]
    std::int64_t due_ = 0, answered_ = 0;
    std::vector<Slot> slots_;   // of the receives of all places, then of the sends
    std::vector<int> unposted_; // receives
    std::vector<Nanoseconds> begins_;
    std::vector<std::int64_t> times_;
    std::vector<std::int64_t> waits_, held_up_; // of requests that have a rate
    std::size_t most_samples_ = 0;
    std::int64_t lost_ = 0;
    TimeHistogram rest_; // of these
    std::array<std::uint64_t, 2> counts_{};
    std::uint64_t noted_ = 0; // of the messages sent, those whose moment was noted
    std::array<std::int64_t, kOwnTotals> totals_{};
    FlowMoments moments_{kNoMoment, kNoMoment, kNoMoment};
    Nanoseconds first_request_ = kNoMoment;
    std::int64_t under_way_ = 0; // sends
    bool is_sweeping_ = false;
    int left_ = 0; // of its own receives to take up
    std::array<fi_cq_data_entry, 16> entries_{};
    EchoPlaces far_; // where no receive is posted
};

// Why a provider cannot carry the point's round trips in its mode; nothing when it can.
std::optional<std::string> echo_trouble(const Offer& offer, const Point& point);

// Of a point of round trips, in one of EchoModes, or of an open loop, in one of PostedModes. Collective.
std::unique_ptr<Flow> make_echo(const EngineParts& parts);

} // namespace a2aperf
