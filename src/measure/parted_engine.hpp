// SPDX-License-Identifier: BSD-3-Clause
// An op whose messages are cut into chunks, or dealt over several endpoints of a rank, each with a queue of its own
// (one_queue_engine.hpp: with one queue).
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "a2aperf/measure/engine.hpp"
#include "messages.hpp"

namespace a2aperf {

template <TransferMode Mode>
class PartedEngine : public Engine {
public:
    struct Part {
        Messages<Mode> messages; // the exchange reads what is in there
        Exchange<Mode> exchange;
    };

    // A part for each endpoint. ranks: those of which arrivals are told; 0 = nothing is traced.
    PartedEngine(std::vector<Part> parts, Post post, SelfCopy self_copy, Deadline& deadline, int ranks)
        : parts_(std::move(parts)), post_(post), self_copy_(self_copy), deadline_(&deadline),
          arrived_at_(static_cast<std::size_t>(ranks)) {}

    void prepare(std::uint64_t op) override {
        for (Part& part : parts_) {
            part.exchange.begin(op);
            if (post_ == Post::before) part.exchange.post_all_receives();
        }
    }
    bool progress() override {
        bool is_new = false;
        for (Part& part : parts_) is_new = part.exchange.progress() || is_new;
        return is_new;
    }
    Moments run() override {
        if (self_copy_.size != 0) self_copy_.run();
        const Moments moments = parts_.size() == 1 ? parts_.front().exchange.run() : run_parts();
        if (!arrived_at_.empty()) note_arrivals();
        return moments;
    }
    std::span<const Nanoseconds> arrival_times() const override { return arrived_at_; }

protected:
    std::vector<Part>& parts() { return parts_; }
    Post when_posted() const { return post_; }
    Deadline& deadline() { return *deadline_; }

    // What several parts have to do in an op.
    virtual void run_in_turn() {
        deadline_->reset();
        for (Part& part : parts_) part.exchange.post();
        while (true) {
            bool is_new = false;
            const Part* waiting = nullptr;
            for (Part& part : parts_) {
                // What is done goes on for peers: some providers move what they ask for within our calls alone.
                is_new = (part.exchange.is_done() ? part.exchange.progress() : part.exchange.advance()) || is_new;
                if (!part.exchange.is_done()) waiting = &part;
            }
            if (waiting == nullptr) break;
            if (!is_new && !deadline_->idle()) waiting->exchange.fail_timeout();
        }
    }

private:
    Moments last_moments() const {
        Moments last = parts_.front().exchange.moments();
        for (const Part& part : parts_) {
            const Moments own = part.exchange.moments();
            last = {std::max(last.send_done, own.send_done), std::max(last.receive_done, own.receive_done)};
        }
        return last;
    }

    Moments run_parts() {
        run_in_turn();
        return last_moments();
    }

    // A message has arrived with its last chunk.
    void note_arrivals() {
        std::ranges::fill(arrived_at_, -1);
        for (const Part& part : parts_) {
            const auto chunks = static_cast<std::size_t>(part.messages.context().chunks);
            const std::span<const Nanoseconds> of_part = part.exchange.arrival_times();
            for (std::size_t index = 0; index < of_part.size(); ++index)
                arrived_at_[index / chunks] = std::max(arrived_at_[index / chunks], of_part[index]);
        }
    }

    std::vector<Part> parts_;
    Post post_;
    SelfCopy self_copy_;
    Deadline* deadline_;
    std::vector<Nanoseconds> arrived_at_; // [R]
};

} // namespace a2aperf
