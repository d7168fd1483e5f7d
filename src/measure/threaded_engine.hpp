// SPDX-License-Identifier: BSD-3-Clause
// An op whose messages are dealt over several endpoints of a rank, each with a thread of its own. A provider's
// domain belongs to one thread at a time (FI_THREAD_DOMAIN): in the op to the endpoint's, else to the caller's.
#pragma once

#include <utility>
#include <vector>

#include "parted_engine.hpp"
#include "thread_team.hpp"

namespace a2aperf {

// Of one thread, in memory that no other one writes to.
struct alignas(kCacheLine) OwnDeadline : Deadline {
    explicit OwnDeadline(const Deadline& like) : Deadline(like) {}
};

template <TransferMode Mode>
class ThreadedEngine final : public PartedEngine<Mode> {
public:
    using typename PartedEngine<Mode>::Part;

    // A thread for each part, whose exchange has the deadline of the same number. cpus: as of a team.
    ThreadedEngine(const Job& job, std::vector<Part> parts, std::vector<OwnDeadline> deadlines,
                   const std::vector<int>& cpus, Post post, SelfCopy self_copy, Deadline& deadline, int ranks)
        : PartedEngine<Mode>(std::move(parts), post, self_copy, deadline, ranks), deadlines_(std::move(deadlines)),
          team_(job, deadlines_.size(), cpus, deadline,
                {[this](std::size_t part) { drive(part); },
                 [this](std::size_t part) { (void)this->parts()[part].exchange.progress(); }}) {}

    void prepare(std::uint64_t op) override {
        for (Deadline& own : deadlines_) own = this->deadline();
        PartedEngine<Mode>::prepare(op);
        team_.arm(this->deadline());
    }
    int pinned_threads() const override { return team_.pinned(); }

private:
    void run_in_turn() override { team_.run(); }

    void drive(std::size_t part) {
        Exchange<Mode>& exchange = this->parts()[part].exchange;
        Deadline& deadline = deadlines_[part];
        deadline.reset();
        exchange.post();
        while (!exchange.is_done()) {
            const bool goes_on = exchange.advance()
                                     ? team_.note(part)
                                     : team_.goes_on(part, deadline, [&exchange] { exchange.fail_timeout(); });
            if (!goes_on) return;
        }
    }

    std::vector<OwnDeadline> deadlines_;
    ThreadTeam team_; // the last: its threads use all of them
};

} // namespace a2aperf
