// SPDX-License-Identifier: BSD-3-Clause
// What of a stream is not timed: how it is opened, and its words where it fails.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/fabric/call_error.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "credit_stream_asking.hpp"
#include "credit_stream_words.hpp"

namespace a2aperf {

inline constexpr std::string_view kInStream = "in a stream";

template <class Mode>
CreditStream<Mode>::CreditStream(const Job& job, Channel& channel, Bytes message_size,
                                 const StreamSettings& settings)
    : job_(job), channel_(channel), settings_(settings), message_size_(message_size),
      stride_(stream_stride(message_size)), context_(channel.context(std::max<Bytes>(message_size, 1))),
      credits_(context_), either_(context_), in_of_(static_cast<std::size_t>(job.ranks()), -1), out_of_(in_of_),
      started_(static_cast<std::size_t>(job.ranks())), due_(static_cast<std::size_t>(job.ranks())) {
    context_.message_size = message_size;
    credits_.message_size = kCreditBytes;
    either_.message_size = std::max(message_size_, kCreditBytes);
    open_streams();
    if constexpr (kHasWords)
        open_buffers();
    else
        label_ = Mode::label(context_, settings_.op);
}

template <class Mode>
void CreditStream<Mode>::open_streams() {
    const auto open = [&](const std::vector<Rank>& peers, std::vector<int>& stream_of_rank, auto& streams) {
        for (const Rank peer : peers) {
            stream_of_rank[static_cast<std::size_t>(peer)] = static_cast<int>(std::ssize(streams));
            streams.push_back({peer, context_.peers[static_cast<std::size_t>(peer)]});
            streams.back().first = stream_of_rank[static_cast<std::size_t>(peer)] * settings_.window;
            if (std::ranges::find(peers_, peer) == peers_.end()) peers_.push_back(peer);
        }
    };
    open(settings_.from, in_of_, in_);
    open(settings_.to, out_of_, out_);
    const auto window = static_cast<std::size_t>(settings_.window);
    for (Incoming& stream : in_) incoming_of_.insert(incoming_of_.end(), window, &stream);
    for (Outgoing& stream : out_) outgoing_of_.insert(outgoing_of_.end(), window, &stream);
    limit();
    for (Incoming& stream : in_) stream.credits = ReturnedCredits(settings_.window);
    const int slots = receives_ + sends_;
    slots_.resize(static_cast<std::size_t>(slots));
    receive_slots_ = slots_.data();
    send_slots_ = receive_slots_ + receives_;
    if (leaves_out()) open_turns();
    taken_at_.resize(static_cast<std::size_t>(message_receives_));
    if constexpr (!kHasWords)
        for (int place = 0; place < receives_; ++place) unposted_.push_back({place, nullptr});
    for (Outgoing& stream : out_) stream.free.reserve(window);
    for (int place = 0; place < sends_; ++place)
        out_[static_cast<std::size_t>(place / settings_.window)].free.put(place);
}

template <class Mode>
std::string CreditStream<Mode>::waiting_for() const {
    if (is_sweeping_) return fmt::format("{} of its last receives to be taken up by {}", left_, job_.who(peers_));
    std::string words;
    if (!in_.empty()) words = fmt::format("messages from {}", job_.who(settings_.from));
    std::vector<Rank> full;
    for (const Outgoing& stream : out_)
        if (is_ending_ || is_full(stream)) full.push_back(stream.to);
    const auto append = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    if (!full.empty()) append(fmt::format("credits from {}", job_.who(full)));
    if (under_way_ > 0) append(fmt::format("completions of {} sends to {}", under_way_, job_.who(settings_.to)));
    if (words.empty()) words = fmt::format("room to send to {}", job_.who(settings_.to));
    if (is_ending_) words += fmt::format(" ({} are missing)", missing());
    return words;
}

template <class Mode>
void CreditStream<Mode>::fail_start(ssize_t status, const char* call, Rank peer) const {
    fail_call(kInStream, status, call, job_.who(peer));
}

template <class Mode>
void CreditStream<Mode>::fail_completion(ssize_t status) const {
    if (status != -FI_EAVAIL) fail_queue(kInStream, status, waiting_for());
    const CompletionError error = channel_.endpoint().take_error();
    // Receives of messages, or reads, come first, then receives of credits, then sends.
    const auto index = static_cast<std::size_t>(static_cast<const Slot*>(error.context) - receive_slots_);
    const auto credit = static_cast<std::size_t>(message_receives_), send = static_cast<std::size_t>(receives_);
    std::string what = "an operation";
    if (index >= send && index - send < outgoing_of_.size())
        what = fmt::format("a send to {}", job_.who(outgoing_of_[index - send]->to));
    else if (index < send && kIsPooled)
        what = "a receive";
    else if (index < credit)
        what = fmt::format("a {} from {}", kIsFetched ? "read" : "receive", job_.who(incoming_of_[index]->from));
    else if (index < send)
        what = fmt::format("the receive of a credit from {}", job_.who(out_[(index - credit) / kCredits].to));
    fail_operation(kInStream, what, error, waiting_for());
}

} // namespace a2aperf
