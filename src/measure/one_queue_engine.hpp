// SPDX-License-Identifier: BSD-3-Clause
// An op whose messages are dealt over several endpoints of a rank that have one queue: it is read once for all of
// them, and what it brings is given to the part whose it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "parted_engine.hpp"

namespace a2aperf {

template <TransferMode Mode>
class OneQueueEngine final : public PartedEngine<Mode> {
public:
    using typename PartedEngine<Mode>::Part;

    // endpoint: one of those that have the queue.
    OneQueueEngine(std::vector<Part> parts, const Endpoint& endpoint, Post post, SelfCopy self_copy,
                   Deadline& deadline, int ranks)
        : PartedEngine<Mode>(std::move(parts), post, self_copy, deadline, ranks), endpoint_(&endpoint) {
        std::vector<Part>& all = this->parts();
        part_of_source_.resize(static_cast<std::size_t>(all.front().messages.context().ranks), 0);
        for (std::size_t part = 0; part < all.size(); ++part)
            for (const Route& from : all[part].exchange.receives())
                part_of_source_[static_cast<std::size_t>(from.peer)] = part;
    }

    void prepare(std::uint64_t op) override {
        for (Part& part : this->parts()) part.exchange.begin(op);
        if (this->when_posted() != Post::before) return;
        this->deadline().reset();
        while (const Part* waiting = post_receives())
            if (!progress() && !this->deadline().idle()) waiting->exchange.fail_timeout();
    }

    bool progress() override {
        read();
        bool is_new = false;
        for (Part& part : this->parts()) is_new = part.exchange.take() || is_new;
        if (is_new) this->deadline().reset();
        return is_new;
    }

private:
    // One that has receives left to post; null: none has.
    const Part* post_receives() {
        const Part* waiting = nullptr;
        for (Part& part : this->parts())
            if (!part.exchange.try_receives()) waiting = &part;
        return waiting;
    }

    void run_in_turn() override {
        this->deadline().reset();
        for (Part& part : this->parts()) part.exchange.post();
        while (true) {
            const bool is_new = progress();
            const Part* waiting = nullptr;
            for (Part& part : this->parts()) {
                if (part.exchange.is_done()) continue;
                part.exchange.post();
                if (!part.exchange.is_done()) waiting = &part;
            }
            if (waiting == nullptr) return;
            if (!is_new && !this->deadline().idle()) waiting->exchange.fail_timeout();
        }
    }

    void read() {
        const ssize_t count = fi_cq_read(endpoint_->queue(), entries_.data(), entries_.size());
        if (count < 0 && count != -FI_EAGAIN && count != -FI_EINTR) [[unlikely]]
            fail(count);
        for (ssize_t i = 0; i < count; ++i) {
            const fi_cq_data_entry& entry = entries_[static_cast<std::size_t>(i)];
            this->parts()[part_of(entry)].exchange.put(entry);
        }
    }

    // Its index; the first one's for what belongs to none: it says so.
    std::size_t part_of(const fi_cq_data_entry& entry) {
        const std::size_t owner = owner_of(entry.op_context);
        if (owner < this->parts().size()) return owner;
        // What a write brings has its source alone.
        const bool has_source = carries_data(Mode::kArrival) && (entry.flags & FI_REMOTE_CQ_DATA) != 0;
        const std::uint64_t source = entry.data & kSourceMask;
        return has_source && source < part_of_source_.size() ? part_of_source_[source] : 0;
    }

    std::size_t owner_of(const void* context) {
        const auto owns = [&](const Part& part) { return part.exchange.owns(context); };
        return static_cast<std::size_t>(std::ranges::find_if(this->parts(), owns) - this->parts().begin());
    }

    [[noreturn, gnu::cold]] void fail(ssize_t status) {
        if (status != -FI_EAVAIL) this->parts().front().exchange.fail_completion(status);
        const CompletionError error = endpoint_->take_error();
        const std::size_t owner = owner_of(error.context);
        this->parts()[owner < this->parts().size() ? owner : 0].exchange.fail_completion(error);
    }

    const Endpoint* endpoint_;
    std::vector<std::size_t> part_of_source_; // of the index from which each message comes
    std::array<fi_cq_data_entry, ExchangeState::kBatch> entries_{};
};

} // namespace a2aperf
