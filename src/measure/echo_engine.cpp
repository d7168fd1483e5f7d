// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/echo_engine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/call_error.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/open_loop_plan.hpp"
#include "echo_engine_places.hpp"
#include "echo_engine_untimed.hpp"

namespace a2aperf {

// False: again later.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::is_started(ssize_t status, const char* call, Rank peer) const {
    if (status == 0 || status == -FI_EAGAIN) return status == 0;
    fail_call(kInRoundTrip, status, call, job_.who(peer));
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::post_receives() {
    if constexpr (kPostsReceives) {
        if (is_sweeping_) return;
        while (!unposted_.empty()) {
            const int index = unposted_.back();
            const Side& side = side_of(index);
            const ssize_t status = Mode::receive(kIsPooled ? context_ : side.in,
                                                 route(side.peer, at(context_.receive_buffer, index), index),
                                                 side.op_in + static_cast<std::uint64_t>(place(index).index));
            if (!is_started(status, "posting a receive", side.peer)) return;
            unposted_.pop_back();
        }
    }
}

// Requests whose time has come, each with a place.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::release_due() {
    if constexpr (Pace::kIsPaced) {
        if (asked() == 0) return;
        const Nanoseconds now = now_ns();
        auto side = sides_.begin();
        for (DueQueue& queue : pace_.queues()) {
            queue.begin_look(now);
            while (queue.is_due(now)) {
                const DueQueue::Request request = queue.take(now, side->started);
                place(request.place).due = request.due;
                place(request.place).is_held_up = request.is_held_up;
                ready_.push_back(request.place);
            }
            queue.end_look();
            ++side;
        }
    }
}

// Requests whose service is over. Those whose place has not sent the one before follow that.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::release_served() {
    if constexpr (Pace::kIsRelay) {
        ServiceQueue& queue = pace_.queue();
        if (queue.is_empty()) return;
        const Nanoseconds now = now_ns();
        while (queue.is_served(now)) {
            const int index = queue.pop();
            place(index).is_due = true;
            if (!place(index).is_sending) ready_.push_back(index);
        }
    }
}

// What came at a relay: a request waits for its service, an answer goes on.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::pass_on(int index, Nanoseconds now) {
    if constexpr (Pace::kIsRelay) {
        const int to = partner(index);
        place(to).came = now;
        if (!side_of(index).asks) return pace_.queue().take(to, now);
        place(index).is_asking = false;
        place(to).is_due = true;
        if (!place(to).is_sending) ready_.push_back(to);
    }
}

// The provider has no room: what waits does not wait for its time.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::hold_up() {
    if constexpr (Pace::kIsPaced)
        for (const int index : ready_) place(index).is_held_up = true;
}

// A place's next message may come as soon as this one is sent: its receive is posted before. A peer for which the
// provider has no room now goes behind the others.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::start_messages() {
    if (ready_.empty() || !unposted_.empty()) return false;
    if constexpr (kHasFlags) post_flags();
    std::size_t done = 0;
    for (; done < ready_.size(); ++done) {
        const Side& side = side_of(ready_[done]);
        if (side.asks && side.started == settings_.most) continue; // its requests are all sent
        if (send_one(ready_[done])) continue;
        std::swap(ready_[done], ready_.back());
        hold_up();
        break;
    }
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(done));
    return done > 0;
}

// To the provider. What is to be fetched stays here, and its word goes.
template <class Mode, class Pace>
inline ssize_t EchoEngine<Mode, Pace>::hand_over(const Side& side, int index, const Route& to,
                                                 std::uint64_t label) {
    if constexpr (kIsFetched) {
        return write_flag(index);
    } else {
        if constexpr (kHasFlags)
            if (far_.there[static_cast<std::size_t>(place(index).side)].delivers_before)
                return Mode::send_delivered(side.out, to);
        return side.injects ? Mode::inject(side.out, to, label) : Mode::send(side.out, to, label);
    }
}

template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::send_one(int index) {
    RequestSlot& place = this->place(index);
    Side& side = side_of(index);
    std::byte* const message = at(context_.send_buffer, index);
    // A request has the number of the answers that came before, an answer that of its request.
    write_number(channel_.memory(), message, side.out.message_size,
                 number_of(side.asks ? place.received : place.received - 1, place.index));
    Route to = route(side.peer, message, places() + index);
    if constexpr (is_written(Mode::kArrival)) to = route_there(index, message, places() + index);
    std::uint64_t label = 0;
    if constexpr (!kIsFetched) label = Mode::label(side.out, side.op_out + static_cast<std::uint64_t>(place.index));
    const bool is_timed = side.asks || Pace::kIsRelay || moments_.begin == kNoMoment || notes_answer(place);
    const Nanoseconds begin = is_timed ? now_ns() : 0;
    const ssize_t status = hand_over(side, index, to, label);
    if (!is_started(status, side.asks ? "sending a request" : "sending an answer", side.peer)) return false;
    if constexpr (kHasFlags)
        if (!far_.there[static_cast<std::size_t>(place.side)].delivers_before) post_flag(index);
    if (moments_.begin == kNoMoment) moments_.begin = begin;
    if constexpr (Pace::kIsRelay) {
        pace_.note(side.asks, place.came, begin);
        place.is_asking = side.asks;
    } else if (side.asks) {
        note_request(place, begin);
    }
    if (!side.asks) ++answered_;
    if constexpr (Pace::kHasBothEnds)
        if (place.served >= 0) pace_.served(place.side - asked()).note_answer(place.served, begin);
    place.is_due = false;
    ++side.started;
    ++started_[static_cast<std::size_t>(side.peer)];
    if (kIsFetched || side.injects) { // nothing completes here
        ++counts_[0];
    } else {
        place.is_sending = true;
        ++under_way_;
    }
    return true;
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::note_request(RequestSlot& place, Nanoseconds begin) {
    if (first_request_ == kNoMoment) [[unlikely]] {
        first_request_ = begin;
        for (RequestSlot& each : asking_places()) each.since = begin;
    }
    place.idle = begin - place.since;
    place.since = begin;
    place.is_asking = true;
    if constexpr (Pace::kIsPaced) place.waited = begin - place.due;
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::note_answer(RequestSlot& place, Nanoseconds now) {
    Nanoseconds begin = place.since;
    if constexpr (Pace::kIsPaced) {
        begin = place.due;
        totals_[kWaited] += place.waited;
    }
    const std::int64_t time = now - begin;
    totals_[kShortest] = totals_[kTrips] == 0 ? time : std::min(totals_[kShortest], time);
    totals_[kLongest] = std::max(totals_[kLongest], time);
    totals_[kTime] += time;
    totals_[kIdle] += place.idle;
    totals_[kSpan] = now - first_request_;
    ++totals_[kTrips];
    if (times_.size() < most_samples_) {
        keep(place, begin, time);
    } else {
        ++lost_;
        rest_.add(time);
    }
    place.since = now;
    place.is_asking = false;
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::keep(const RequestSlot& place, Nanoseconds begin, std::int64_t time) {
    begins_.push_back(begin);
    times_.push_back(time);
    if constexpr (Pace::kHasBothEnds) pace_.keep(place.side * settings_.outstanding + place.index);
    if constexpr (Pace::kIsPaced) {
        waits_.push_back(place.waited);
        held_up_.push_back(place.is_held_up ? 1 : 0);
    }
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::check_number(const Side& side, const std::byte* message, std::uint64_t number) const {
    const FoundNumber found = find_number(channel_.memory(), message, side.in.message_size, number);
    if (found.begin == number && found.is_end_due) return;
    throw RunError(fmt::format("{} {} from {} is not what was sent: its number is wrong at its {}",
                               side.asks ? "answer" : "request", number, job_.who(side.peer),
                               found.begin != number ? "begin" : "end"),
                   EndReason::bad_data);
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::take_message(int index, const std::byte* message, Nanoseconds now) {
    RequestSlot& place = this->place(index);
    const Side& side = side_of(index);
    if (side.asks && !Pace::kIsRelay) note_answer(place, now);
    check_number(side, message, number_of(place.received, place.index));
    ++place.received;
    ++counts_[1];
    if constexpr (Pace::kIsRelay) return pass_on(index, now);
    if constexpr (Pace::kHasBothEnds)
        if (!side.asks) place.served = pace_.served(place.side - asked()).note(place.index, now);
    place.is_due = true;
    if (!place.is_sending) make_ready(index, now);
}

// Which place a message is of by its data: they name its sender, and what it is to that.
template <class Mode, class Pace>
int EchoEngine<Mode, Pace>::place_of(std::uint64_t data) const {
    const std::uint64_t source = data & kSourceMask;
    for (const auto& side_of : side_of_rank_) {
        const int side = source < side_of.size() ? side_of[source] : -1;
        if (side < 0) continue;
        const std::uint64_t index = ((data >> kSourceBits) - sides_[static_cast<std::size_t>(side)].op_in) & 0xff;
        if (index < static_cast<std::uint64_t>(settings_.outstanding))
            return side * settings_.outstanding + static_cast<int>(index);
    }
    throw RunError(fmt::format("a message came that nobody should send (data {:#x})", data), EndReason::bad_data);
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::take(int index, std::uint64_t data, Nanoseconds now) {
    if (is_sweeping_) {
        --left_;
        return;
    }
    if constexpr (kPostsReceives) unposted_.push_back(index);
    take_message(kIsPooled ? place_of(data) : index, at(context_.receive_buffer, index), now);
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::note_sent(int index, Nanoseconds now) {
    RequestSlot& of = place(index);
    of.is_sending = false;
    if (of.is_due) make_ready(index, now);
    --under_way_;
    noted_ = ++counts_[0];
    moments_.send_done = now;
}

template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::read_queue() {
    const ssize_t count = fi_cq_read(channel_.endpoint().queue(), entries_.data(), entries_.size());
    if (count <= 0) [[unlikely]] {
        if (count != -FI_EAGAIN && count != -FI_EINTR && count != 0) fail_completion(count);
        if (!unposted_.empty()) post_receives();
        return false;
    }
    const Nanoseconds now = now_ns(); // one look at the clock for all of them
    if (counts_[0] != noted_) note_injected(now);
    const std::uint64_t received_before = counts_[1];
    for (const fi_cq_data_entry& entry : std::span(entries_).first(static_cast<std::size_t>(count))) {
        if constexpr (is_written(Mode::kArrival)) {
            take_written(entry, now);
            continue;
        }
        const auto slot = static_cast<int>(static_cast<const Slot*>(entry.op_context) - slots_.data());
        if (slot < places())
            take(slot, entry.data, now);
        else
            note_sent(slot - places(), now);
    }
    if (counts_[1] != received_before) moments_.receive_done = now;
    post_receives();
    return true;
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::expect_sweep() {
    is_sweeping_ = true;
    note_rest();
    note_due();
    if constexpr (Pace::kIsRelay) std::ranges::copy(pace_.totals(), totals_.begin() + kRelay);
    if constexpr (!kPostsReceives) return; // nothing is left
    for (Side& side : sides_) side.to_take_up = settings_.outstanding;
    left_ = places();
}

template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::sweep() {
    if constexpr (kPostsReceives) {
        for (Side& side : sides_) {
            const TransferContext small = of_size(side.out, std::min<Bytes>(side.out.message_size, kNumberBytes));
            while (side.to_take_up > 0) {
                const std::uint64_t op = side.op_out + static_cast<std::uint64_t>(side.to_take_up - 1);
                const Route to = route(side.peer, context_.send_buffer, 0); // no slot is used
                if (!is_started(Mode::inject(small, to, Mode::label(small, op)), "taking up a receive", side.peer))
                    return false;
                --side.to_take_up;
            }
        }
    }
    return left_ == 0;
}

template class EchoEngine<Tagged>;
template class EchoEngine<Msg>;
template class EchoEngine<Tagged, AtOnceAtBothEnds>;
template class EchoEngine<Msg, AtOnceAtBothEnds>;
template class EchoEngine<WriteImm, AtOnceAtBothEnds>;
template class EchoEngine<Read, AtOnceAtBothEnds>;
template class EchoEngine<Write, AtOnceAtBothEnds>;
template class EchoEngine<Tagged, WhenDue>;
template class EchoEngine<Msg, WhenDue>;
template class EchoEngine<Tagged, Relayed>;
template class EchoEngine<Msg, Relayed>;

namespace {

template <class Mode>
using AtBothEndsIn = EchoEngine<Mode, AtOnceAtBothEnds>;
template <class Mode>
using WhenDueIn = EchoEngine<Mode, WhenDue>;
template <class Mode>
using RelayedIn = EchoEngine<Mode, Relayed>;

} // namespace

std::optional<std::string> echo_trouble(const Offer& offer, const Point& point) {
    if (find_mode(point.mode).arrival != Arrival::data || !offer.consumes_receive()) return std::nullopt;
    return fmt::format("each write that carries data takes a posted receive of {}, and a round trip has none",
                       offer.provider());
}

std::unique_ptr<Flow> make_echo(const EngineParts& parts) {
    Channel& channel = only_channel(parts.channels, "a round trip");
    const Point& point = parts.point;
    const OpenLoopPlan* const paced = find_open_loop(point);
    const EchoSettings settings = round_trip_settings(parts, channel.domain().offer());
    if (paced != nullptr && paced->is_relay(parts.job.rank()))
        return PostedModes::make<RelayedIn>(point.mode, parts.job, channel, point.message_size, settings);
    if (paced != nullptr)
        return PostedModes::make<WhenDueIn>(point.mode, parts.job, channel, point.message_size, settings);
    return EchoModes::make<AtBothEndsIn>(point.mode, parts.job, channel, point.message_size, settings);
}

} // namespace a2aperf
