// SPDX-License-Identifier: BSD-3-Clause
// What of round trips is not timed: how they are opened, what is said of them while they run, and what is kept.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/fabric/call_error.hpp"
#include "a2aperf/measure/echo_engine.hpp"

namespace a2aperf {

inline constexpr std::string_view kInRoundTrip = "in a round trip";

inline TransferContext of_size(TransferContext context, Bytes size) {
    context.message_size = size;
    return context;
}

template <class Mode, class Pace>
EchoEngine<Mode, Pace>::EchoEngine(const Job& job, Channel& channel, Bytes answer_size,
                                   const EchoSettings& settings)
    : job_(job), channel_(channel), settings_(settings), pace_(settings),
      stride_(stream_stride(std::max(answer_size, settings.request_size))),
      context_(channel.context(std::max<Bytes>({answer_size, settings.request_size, 1}))),
      started_(static_cast<std::size_t>(job.ranks())) {
    for (auto& side_of : side_of_rank_) side_of.assign(static_cast<std::size_t>(job.ranks()), -1);
    const TransferContext answers = of_size(context_, answer_size);
    for (const Rank server : settings.servers) add_side(true, server, answers);
    for (const Rank client : settings.clients) add_side(false, client, answers);
    slots_.resize(2 * places_.size());
    ready_.reserve(places_.size());
    if constexpr (Pace::kIsPaced)
        for (DueQueue& queue : pace_.queues()) queue.reserve(static_cast<std::size_t>(settings.outstanding));
    for (int index = 0; index < places(); ++index) {
        if (kPostsReceives) unposted_.push_back(index);
        if (Pace::kIsRelay || !side_of(index).asks) continue;
        make_ready(index, std::numeric_limits<Nanoseconds>::min());
        place(index).is_due = true;
    }
    if (!Pace::kIsRelay) totals_[kPlaces] = std::ssize(asking_places());
    if constexpr (!kPostsReceives) open_places();
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::add_side(bool asks, Rank peer, const TransferContext& answers) {
    const auto side = static_cast<int>(std::ssize(sides_));
    side_of_rank_[asks ? 1 : 0][static_cast<std::size_t>(peer)] = side;
    sides_.push_back(make_side(asks, peer, answers));
    for (int index = 0; index < settings_.outstanding; ++index) {
        RequestSlot& place = places_.emplace_back();
        place.side = side;
        place.index = index;
    }
}

template <class Mode, class Pace>
auto EchoEngine<Mode, Pace>::make_side(bool asks, Rank peer, const TransferContext& answers) const -> Side {
    const TransferContext requests = of_size(answers, settings_.request_size);
    const std::uint64_t op = settings_.op;
    const std::uint64_t op_of_answers = op + static_cast<std::uint64_t>(settings_.outstanding);
    return {.peer = peer,
            .asks = asks,
            .op_out = asks ? op : op_of_answers,
            .op_in = asks ? op_of_answers : op,
            .out = asks ? requests : answers,
            .in = asks ? answers : requests,
            .injects = asks ? settings_.injects_requests : settings_.injects_answers};
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::reserve(std::size_t most_samples) {
    if constexpr (Pace::kHasBothEnds) pace_.reserve(most_samples, settings_.most);
    if (asked() == 0) return;
    if (settings_.most >= 0)
        most_samples = std::min(most_samples, static_cast<std::size_t>(asked() * settings_.most));
    if constexpr (Pace::kIsRelay) return pace_.reserve(most_samples);
    most_samples_ = most_samples;
    begins_.assign(most_samples, 0); // touched: the timed part allocates nothing
    times_.assign(most_samples, 0);
    rest_.reserve();
    begins_.clear();
    times_.clear();
    if constexpr (Pace::kHasBothEnds) pace_.reserve_asked(most_samples);
    if constexpr (Pace::kIsPaced)
        for (auto* column : {&waits_, &held_up_}) {
            column->assign(most_samples, 0);
            column->clear();
        }
}

// Of a message that is fetched: its word is here, and the message is for this rank to read.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::is_told(std::size_t place) const {
    if constexpr (kIsFetched)
        return is_read(place) || far_.words->message(static_cast<int>(place)) == far_.due[place];
    return false;
}

// It is on its way: a place's word is looked for again as soon as its read is posted.
template <class Mode, class Pace>
bool EchoEngine<Mode, Pace>::is_read(std::size_t place) const {
    if constexpr (kIsFetched) return far_.due[place] > static_cast<std::uint64_t>(places_[place].received) + 1;
    return false;
}

// Of the servers those that owe an answer, where any does.
template <class Mode, class Pace>
std::string EchoEngine<Mode, Pace>::waiting_for() const {
    if (is_sweeping_) {
        std::vector<Rank> peers;
        for (const Side& side : sides_)
            if (std::ranges::find(peers, side.peer) == peers.end()) peers.push_back(side.peer);
        return fmt::format("{} of its last receives to be taken up by {}", left_, job_.who(peers));
    }
    // By the sides that ask and by those that answer.
    std::array<std::vector<Rank>, 2> owing;
    int reads = 0;
    for (std::size_t index = 0; index < places_.size(); ++index) {
        const Side& side = sides_[static_cast<std::size_t>(places_[index].side)];
        reads += is_told(index) ? 1 : 0;
        std::vector<Rank>& peers = owing[side.asks ? 0 : 1];
        const bool owes = !is_told(index) && (places_[index].is_asking || !side.asks);
        if (owes && (peers.empty() || peers.back() != side.peer)) peers.push_back(side.peer);
    }
    if (owing[0].empty() && reads == 0) owing[0] = settings_.servers;
    std::vector<std::string> parts;
    if (!owing[0].empty()) parts.push_back(fmt::format("answers from {}", job_.who(owing[0])));
    if (!owing[1].empty()) parts.push_back(fmt::format("requests from {}", job_.who(owing[1])));
    std::string words = fmt::format("{}", fmt::join(parts, " and "));
    const auto add = [&](std::int64_t count, std::string_view what) {
        if (count > 0) words += fmt::format("{}{} of its {}", words.empty() ? "" : ", and ", count, what);
    };
    add(under_way_, "sends");
    add(reads, "reads");
    return words;
}

// Who asks by itself does so as long as one of its places has no answer under way here, or more of them are to
// come. Who has told of all that it owes lets reads complete, where some are under way.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::see_peers(std::vector<PeerSeen>& seen) const {
    seen.clear();
    auto place = places_.begin();
    for (const Side& side : sides_) {
        std::int64_t received = 0;
        std::uint64_t fetched = 0;
        bool is_due = false, is_reading = false;
        for (int i = 0; i < settings_.outstanding; ++i, ++place) {
            received += place->received;
            bool owes = side.asks ? place->is_asking : !place->is_due || place->is_sending;
            if constexpr (Pace::kIsRelay) // what is here, or at the server, is not the client's turn
                if (!side.asks)
                    owes = owes &&
                           place->received ==
                               places_[static_cast<std::size_t>(partner(static_cast<int>(place - places_.begin())))]
                                   .received;
            if constexpr (kIsFetched) {
                const auto index = static_cast<std::size_t>(place - places_.begin());
                owes = owes && !is_told(index);
                is_reading |= is_told(index); // also where its read finds no room yet
                fetched += far_.due[index];
            }
            is_due |= owes;
        }
        if (!side.asks && received == settings_.most) is_due = false;
        const std::string_view due = !is_due ? "" : side.asks ? "answers" : "requests";
        seen.push_back({side.peer, is_reading && !is_due ? "completions of reads" : due, side.asks,
                        static_cast<std::uint64_t>(received + side.started) + fetched});
    }
}

template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::fail_completion(ssize_t status) const {
    if (status != -FI_EAVAIL) fail_queue(kInRoundTrip, status, waiting_for());
    const CompletionError error = channel_.endpoint().take_error();
    // Receives, or reads, of all places come first, then their sends.
    const auto index = static_cast<std::size_t>(static_cast<const Slot*>(error.context) - slots_.data());
    std::string what = "an operation";
    if (index < places_.size() && kIsPooled) {
        what = "a receive";
    } else if (index < slots_.size()) {
        const bool is_send = index >= places_.size();
        const RequestSlot& place = places_[is_send ? index - places_.size() : index];
        what = fmt::format("{} {}",
                           is_send      ? "a send to"
                           : kIsFetched ? "a read from"
                                        : "a receive from",
                           job_.who(sides_[static_cast<std::size_t>(place.side)].peer));
    }
    fail_operation(kInRoundTrip, what, error, waiting_for());
}

// Those that are kept are counted here: in the timed part they cost no more than the others.
template <class Mode, class Pace>
KeptSamples EchoEngine<Mode, Pace>::kept() const {
    if constexpr (Pace::kIsRelay) return {pace_.arrivals(), {{}, pace_.times(), {}}};
    TimeHistogram all = rest_;
    for (const Nanoseconds time : times_) all.add(time);
    std::vector<std::span<const std::int64_t>> values{times_};
    if constexpr (Pace::kIsPaced) values.insert(values.end(), {waits_, held_up_});
    KeptSamples kept{begins_, std::move(values), lost_, all.buckets()};
    if constexpr (Pace::kHasBothEnds)
        kept.both_ends =
            BothEnds{settings_.servers, settings_.clients, settings_.outstanding, pace_.asked(), pace_.served()};
    return kept;
}

// After the last answer of all: what each place did until then, since its own last one.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::note_rest() {
    if (totals_[kTrips] == 0) return;
    const Nanoseconds last = first_request_ + totals_[kSpan];
    for (const RequestSlot& place : asking_places()) {
        const Nanoseconds free = place.is_asking ? place.since - place.idle : place.since;
        const Nanoseconds asked = place.is_asking ? std::min(place.since, last) : last;
        totals_[kIdle] += asked - std::min(free, asked);
        totals_[kOpen] += last - asked;
    }
}

// Also of those that nobody sent by the end.
template <class Mode, class Pace>
void EchoEngine<Mode, Pace>::note_due() {
    if constexpr (Pace::kIsPaced) {
        auto side = sides_.begin();
        for (DueQueue& queue : pace_.queues()) {
            queue.look(std::numeric_limits<Nanoseconds>::max(), side->started);
            totals_[kDue] += queue.fallen();
            totals_[kDueTime] = std::max(totals_[kDueTime], queue.passed());
            totals_[kBehind] = std::max(totals_[kBehind], queue.most_behind());
            ++side;
        }
    }
}

} // namespace a2aperf
