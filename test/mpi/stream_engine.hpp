// SPDX-License-Identifier: BSD-3-Clause
// The simplest stream that there is: a window of messages to one peer, another from one, every byte verified.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/flow.hpp"
#include "measure/payload.hpp"

namespace a2aperf::test {

inline constexpr Rank kNobody = -1;

struct StreamPeers {
    Rank to = kNobody, from = kNobody;
};

// A message is its number among those of its sender, and a payload that follows from it.
template <class Mode>
class StreamEngine {
public:
    static constexpr std::array<std::string_view, 5> kCounters{"started", "messages_sent", "bytes_sent",
                                                               "messages_received", "bytes_received"};

    StreamEngine(const Job& job, Channel& channel, StreamPeers peers, Bytes message_size, int window)
        : channel_(channel), context_(channel.context(message_size)), peers_(peers), started_(of_all(job)),
          due_(of_all(job)), slots_(2 * static_cast<std::size_t>(window)) {
        for (int i = 0; i < window; ++i) {
            if (peers.from != kNobody) unposted_.push_back(i);
            free_.push_back(i);
        }
    }

    std::int64_t most = -1; // messages to send; -1 = until the end of the duration
    std::function<void()> on_advance = [] {}, on_progress = [] {};
    std::uint64_t received_numbers = 0; // a sum of them, mixed

    void prepare() { post_receives(); }
    bool advance() {
        on_advance();
        while (peers_.to != kNobody && !free_.empty() && has_more())
            if (!send_one()) break;
        return read_queue();
    }
    bool progress() {
        on_progress();
        return read_queue();
    }
    bool is_over() const {
        if (most < 0) return false;
        const auto is_done = [&](Rank peer, std::uint64_t count) {
            return peer == kNobody || count == static_cast<std::uint64_t>(most);
        };
        return is_done(peers_.to, counts_[kStarted]) && is_done(peers_.from, counts_[kReceived]);
    }
    bool has_peers() const { return peers_.to != kNobody || peers_.from != kNobody; }
    bool injects() const { return false; }
    std::span<const std::uint64_t> counters() const { return counts_; }
    FlowMoments moments() const { return moments_; }
    std::span<const std::int64_t> totals() const { return totals_; } // messages sent, and received
    std::span<const std::int64_t> started() const { return started_; }
    void expect(std::span<const std::int64_t> due) { due_.assign(due.begin(), due.end()); }
    bool is_drained() const { return counts_[kSent] == counts_[kStarted] && missing() == 0; }
    std::string waiting_for() const {
        return fmt::format("{} messages from rank {} and {} sends to rank {}", missing(), peers_.from,
                           counts_[kStarted] - counts_[kSent], peers_.to);
    }

private:
    bool has_more() const { return most < 0 || counts_[kStarted] < static_cast<std::uint64_t>(most); }

    enum Count : std::size_t { kStarted, kSent, kBytesSent, kReceived, kBytesReceived };
    static constexpr std::uint64_t kOp = 5; // of all messages

    static std::vector<std::int64_t> of_all(const Job& job) {
        return std::vector<std::int64_t>(static_cast<std::size_t>(job.ranks()));
    }
    std::int64_t missing() const {
        const std::int64_t due = peers_.from == kNobody ? 0 : due_[static_cast<std::size_t>(peers_.from)];
        return due - static_cast<std::int64_t>(counts_[kReceived]);
    }

    std::span<std::byte> place(std::byte* buffer, int index) const {
        return {buffer + static_cast<std::size_t>(index) * context_.message_size, context_.message_size};
    }
    Route route(Rank peer, std::span<std::byte> message, std::size_t slot) {
        return {context_.peers[peer], message.data(), 0, 0, &slots_[slot], peer};
    }
    void post_receives() {
        while (!unposted_.empty()) {
            const int index = unposted_.back();
            const Route from =
                route(peers_.from, place(context_.receive_buffer, index), static_cast<std::size_t>(index));
            if (Mode::receive(context_, from, kOp) != 0) return;
            unposted_.pop_back();
        }
    }
    bool send_one() {
        const int index = free_.back();
        const std::span<std::byte> message = place(context_.send_buffer, index);
        std::memcpy(message.data(), &counts_[kStarted], sizeof(std::uint64_t));
        fill_payload(memory_kinds().front(), message.subspan(sizeof(std::uint64_t)),
                     {1, context_.self, peers_.to, counts_[kStarted]});
        const Route to = route(peers_.to, message, slots_.size() / 2 + static_cast<std::size_t>(index));
        if (Mode::send(context_, to, Mode::label(context_, kOp)) != 0) return false;
        free_.pop_back();
        if (moments_.begin == kNoMoment) moments_.begin = now_ns();
        ++counts_[kStarted];
        ++started_[static_cast<std::size_t>(peers_.to)];
        return true;
    }
    void take(int index) {
        const std::span<const std::byte> message = place(context_.receive_buffer, index);
        std::uint64_t number = 0;
        std::memcpy(&number, message.data(), sizeof number);
        if (check_payload(memory_kinds().front(), message.subspan(sizeof number),
                          {1, peers_.from, context_.self, number}))
            throw RunError(fmt::format("message {} is damaged", number));
        received_numbers += mix64(number);
        ++counts_[kReceived];
        ++totals_[1];
        moments_.receive_done = now_ns();
        counts_[kBytesReceived] += message.size();
        unposted_.push_back(index);
    }
    bool read_queue() {
        post_receives();
        const ssize_t count = fi_cq_read(channel_.endpoint().queue(), entries_.data(), entries_.size());
        if (count == -FI_EAGAIN) return false;
        if (count < 0) throw RunError(channel_.endpoint().take_error().text);
        for (const fi_cq_data_entry& entry : std::span(entries_).first(static_cast<std::size_t>(count))) {
            const auto window = static_cast<std::ptrdiff_t>(slots_.size() / 2);
            const auto slot = static_cast<const Slot*>(entry.op_context) - slots_.data();
            if (slot < window) {
                take(static_cast<int>(slot));
            } else {
                free_.push_back(static_cast<int>(slot - window));
                ++counts_[kSent];
                ++totals_[0];
                moments_.send_done = now_ns();
                counts_[kBytesSent] += context_.message_size;
            }
        }
        return true;
    }

    Channel& channel_;
    TransferContext context_;
    StreamPeers peers_;
    std::vector<std::int64_t> started_, due_; // [R]
    std::vector<Slot> slots_;                 // of the receives, then of the sends
    std::vector<int> unposted_, free_;        // places of receives, and of sends
    std::array<std::uint64_t, 5> counts_{};
    std::array<std::int64_t, 2> totals_{};
    FlowMoments moments_{kNoMoment, kNoMoment, kNoMoment};
    std::array<fi_cq_data_entry, 16> entries_{};
};

} // namespace a2aperf::test
