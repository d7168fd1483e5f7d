// SPDX-License-Identifier: BSD-3-Clause
// An op whose messages between nodes go by way of the nodes' leaders: the stages of plan/forwarding.hpp, an
// exchange each, one after another. Receives of later stages are posted within the op.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/engine.hpp"
#include "a2aperf/plan/forwarding.hpp"

namespace a2aperf {

// One rank's part: what it copies, and an exchange for each stage.
template <TransferMode Mode>
class ForwardingStages {
public:
    // whole: with the buffers, and a place in them for the message of every peer.
    ForwardingStages(const Forwarding& forwarding, const TransferContext& whole, const MemoryKind& memory,
                     const Endpoint& endpoint, ExchangeSettings settings, Deadline& deadline)
        : op_(forwarding.of(whole.self)), whole_(whole), memory_(&memory) {
        settings.stages = Forwarding::kStages;
        exchanges_.reserve(op_.stages.size());
        for (const ForwardingStage& stage : op_.stages) {
            TransferContext context = whole;
            context.message_size = forwarding.largest();
            context.send_size = stage.send_size.data();
            context.receive_size = stage.receive_size.data();
            context.send_offset = stage.send_offset.data();
            context.receive_offset = stage.receive_offset.data();
            contexts_.push_back(context);
            exchanges_.emplace_back(context, endpoint, stage.peers.sends, stage.peers.receives, settings, deadline);
        }
    }

    ForwardingStages(const ForwardingStages&) = delete;
    ForwardingStages& operator=(const ForwardingStages&) = delete;

    void begin(std::uint64_t op, int stage) {
        exchange(stage).begin(op * Forwarding::kStages + static_cast<std::uint64_t>(stage));
    }
    void copy(int stage) const { copy(this->stage(stage).copies); }
    void copy_the_rest() const { copy(op_.copies); } // behind the last stage

    const ForwardingStage& stage(int number) const { return op_.stages[static_cast<std::size_t>(number)]; }
    const TransferContext& context(int stage) const { return contexts_[static_cast<std::size_t>(stage)]; }
    const TransferContext& whole() const { return whole_; }
    Exchange<Mode>& exchange(int stage) { return exchanges_[static_cast<std::size_t>(stage)]; }
    const Exchange<Mode>& exchange(int stage) const { return exchanges_[static_cast<std::size_t>(stage)]; }

private:
    void copy(const std::vector<BufferCopy>& copies) const {
        const auto start_of = [this](Buffer buffer) {
            return buffer == Buffer::send ? whole_.send_buffer : whole_.receive_buffer;
        };
        for (const BufferCopy& one : copies)
            memory_->copy(start_of(one.from_buffer) + one.from, start_of(one.to_buffer) + one.to, one.size);
    }

    const Forwarding::Op op_; // exchanges read what is in there
    TransferContext whole_;
    const MemoryKind* memory_;
    std::vector<TransferContext> contexts_;
    std::vector<Exchange<Mode>> exchanges_;
};

template <TransferMode Mode>
class ForwardingEngine final : public Engine {
public:
    // With traces: of all ranks.
    ForwardingEngine(const Forwarding& forwarding, const TransferContext& whole, const MemoryKind& memory,
                     const Endpoint& endpoint, const ExchangeSettings& settings, Deadline& deadline, Post post,
                     SelfCopy self_copy)
        : stages_(forwarding, whole, memory, endpoint, settings, deadline), forwarding_(forwarding), post_(post),
          self_copy_(self_copy), arrived_at_(settings.traces ? static_cast<std::size_t>(whole.ranks) : 0) {}

    void prepare(std::uint64_t op) override {
        op_ = op;
        stages_.begin(op, 0);
        if (post_ == Post::before) stages_.exchange(0).post_all_receives();
    }
    bool progress() override { return stages_.exchange(0).progress(); }
    Moments run() override {
        if (self_copy_.size != 0) self_copy_.run();
        Moments moments{kNoMoment, 0};
        for (int stage = 0; stage < Forwarding::kStages; ++stage) {
            stages_.copy(stage);
            if (stage > 0) {
                stages_.begin(op_, stage);
                stages_.exchange(stage).post_all_receives();
            }
            const Moments of_stage = stages_.exchange(stage).run();
            if (!stages_.stage(stage).peers.sends.empty()) moments.send_done = of_stage.send_done;
        }
        stages_.copy_the_rest();
        moments.receive_done = now_ns();
        if (!arrived_at_.empty()) note_arrivals();
        return moments;
    }
    std::span<const Nanoseconds> arrival_times() const override { return arrived_at_; }

private:
    // A message that was passed on is here when the last one who had it has sent it.
    void note_arrivals() {
        const Layout& layout = forwarding_.layout();
        const Rank self = stages_.whole().self;
        const Rank leader = forwarding_.leader_of(self);
        for (Rank source = 0; source < layout.ranks(); ++source) {
            const int stage = layout.node_of(source) == layout.node_of(self) ? 0 : self == leader ? 1 : 2;
            const Rank from = stage == 0 ? source : stage == 1 ? forwarding_.leader_of(source) : leader;
            arrived_at_[static_cast<std::size_t>(source)] =
                source == self ? -1 : stages_.exchange(stage).arrival_times()[static_cast<std::size_t>(from)];
        }
    }

    ForwardingStages<Mode> stages_;
    Forwarding forwarding_;
    Post post_;
    SelfCopy self_copy_;
    std::vector<Nanoseconds> arrived_at_; // [R]
    std::uint64_t op_ = 0;
};

} // namespace a2aperf
