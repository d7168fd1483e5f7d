// SPDX-License-Identifier: BSD-3-Clause
// The part of round trips whose messages are written into the other side's memory, or fetched out of it: no receive
// is posted.
#pragma once

#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/transfer/word.hpp"

namespace a2aperf {

// Collective. Words are forgotten before any peer writes one.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::open_places() {
    if constexpr (kHasWords) {
        far_.words.emplace(context_.flags, context_.ranks, places());
        far_.due.assign(places_.size(), 1);
        far_.seen.reserve(places_.size());
        far_.untold.reserve(places_.size());
    }
    const auto at_peers = [&](const std::vector<int>& side_of_rank) {
        return job_.all_to_all(std::vector<std::int64_t>(side_of_rank.begin(), side_of_rank.end()));
    };
    // What asks here is answered there.
    const std::array theirs{at_peers(side_of_rank_[0]), at_peers(side_of_rank_[1])};
    for (const Side& side : sides_) {
        const RemoteBuffers& all = context_.remote[side.peer];
        const auto first = static_cast<int>(theirs[side.asks ? 0 : 1][static_cast<std::size_t>(side.peer)]) *
                           settings_.outstanding;
        Region::Remote messages = kIsFetched ? all.send : all.receive;
        messages.address += static_cast<std::size_t>(first) * stride_;
        far_.there.push_back({messages, first, kHasFlags && side.out.message_size > settings_.ordered_write});
    }
}

template <class Mode, class Pace>
Route EchoEngine<Mode, Pace>::route_there(int index, std::byte* message, int slot) {
    const RequestSlot& place = this->place(index);
    const Region::Remote& messages = far_.there[static_cast<std::size_t>(place.side)].messages;
    Route route = this->route(side_of(index).peer, message, slot);
    route.remote_address = messages.address + static_cast<std::size_t>(place.index) * stride_;
    route.remote_key = messages.key;
    return route;
}

// Of the message that a place has sent last, or is about to offer.
template <class Mode, class Pace>
ssize_t EchoEngine<Mode, Pace>::write_flag(int index) {
    const RequestSlot& place = this->place(index);
    const Side& side = side_of(index);
    const std::int64_t number = side.asks ? place.received + 1 : place.received;
    const int there = far_.there[static_cast<std::size_t>(place.side)].first + place.index;
    return write_word(context_, side.peer, StreamWords::of_message(context_.ranks, there),
                      static_cast<std::uint64_t>(number));
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::post_flag(int index) {
    if (!is_started(write_flag(index), "writing a flag", side_of(index).peer)) far_.untold.push_back(index);
}

// A peer for which there is no room keeps nobody else waiting.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::post_flags() {
    std::erase_if(far_.untold, [this](int index) {
        return is_started(write_flag(index), "writing a flag", side_of(index).peer);
    });
}

// All that are there are looked for before the clock: none comes later than its moment says.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::look_at_words() {
    if constexpr (kHasFlags) post_flags();
    far_.seen.clear();
    const auto look = [this](int from, int end) {
        for (int index = from; index < end; ++index)
            if (far_.words->message(index) == far_.due[static_cast<std::size_t>(index)]) far_.seen.push_back(index);
    };
    look(far_.first, places());
    look(0, far_.first);
    if (far_.seen.empty()) return false;
    if constexpr (kIsFetched) return fetch_seen();
    take_seen();
    return true;
}

// True where a read was posted. There may be room for another peer where there is none for one; and the first that
// found none is the first of the next look, so that nobody's reads go before those of all others for ever.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::fetch_seen() {
    bool has_started = false;
    if constexpr (kIsFetched) {
        int full = -1; // the side for which there was no room last
        far_.first = 0;
        for (const int index : far_.seen) {
            if (place(index).side == full) continue;
            const Side& side = side_of(index);
            const Route from = route_there(index, at(context_.receive_buffer, index), index);
            if (!is_started(Mode::receive(side.in, from, side.op_in), "reading", side.peer)) {
                if (full < 0) far_.first = index;
                full = place(index).side;
                continue;
            }
            ++far_.due[static_cast<std::size_t>(index)];
            has_started = true;
        }
    }
    return has_started;
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::take_seen() {
    if constexpr (kHasFlags) {
        const Nanoseconds now = now_ns();
        if (counts_[0] != noted_) note_injected(now);
        for (const int index : far_.seen) {
            ++far_.due[static_cast<std::size_t>(index)];
            take_message(index, at(context_.receive_buffer, index), now);
        }
        moments_.receive_done = now;
    }
}

// Our own slots first: some providers flag the completion of a write that carries data like its arrival.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::take_written(const fi_cq_data_entry& entry, Nanoseconds now) {
    if constexpr (is_written(Mode::kArrival)) {
        const std::ptrdiff_t sent = static_cast<const Slot*>(entry.op_context) - slots_.data() - places();
        if (static_cast<std::size_t>(sent) < places_.size()) {
            const int index = static_cast<int>(sent);
            if constexpr (kHasFlags)
                if (far_.there[static_cast<std::size_t>(place(index).side)].delivers_before) post_flag(index);
            return note_sent(index, now);
        }
        if (Mode::kArrival == Arrival::data && (entry.flags & FI_REMOTE_CQ_DATA) != 0) {
            const int index = place_of(entry.data);
            const bool is_due = side_of(index).asks ? place(index).is_asking : !place(index).is_due;
            if (is_due) return take_message(index, at(context_.receive_buffer, index), now);
        }
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", entry.data),
                       EndReason::bad_data);
    }
}

} // namespace a2aperf
