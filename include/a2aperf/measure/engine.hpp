// SPDX-License-Identifier: BSD-3-Clause
// How one op is done: by our own exchange over a transfer mode, by MPI, or by an engine of a workload.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/exchange.hpp"
#include "a2aperf/measure/self_copy.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {

class Engine {
public:
    Engine() = default;
    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Untimed; the receives are posted here with Post::before. op differs between all ops of a launch.
    virtual void prepare(std::uint64_t op) = 0;
    // Keeps peers going while this rank waits for the others. True when something happened.
    virtual bool progress() = 0;
    // The op.
    virtual Moments run() = 0;
    // The next op is the first that counts.
    virtual void restart() {}
    // Whether the message of a rank is here, from prepare() on; false where nothing tells. What answers a message
    // waits for it by progress(), before its run() sends.
    virtual bool has_arrived(Rank /*source*/) const { return false; }
    // When the message of each rank arrived in the last op, on this rank's clock, [R]; -1 = none came. Empty when
    // nothing is traced.
    virtual std::span<const Nanoseconds> arrival_times() const { return {}; }
    // Moments of the last op that the engine's workload alone has, on this rank's clock, in the order of its
    // columns; kNoMoment = this rank has none. Empty in all ops where the engine tells none.
    virtual std::span<const Nanoseconds> own_moments() const { return {}; }
    // How many threads that do an op run on a CPU of their own, as they were told to.
    virtual int pinned_threads() const { return 0; }
};

// MPI_Alltoall over the same memory. It has no deadline of its own: a watchdog ends the process after the job's
// timeout, and closes the file before.
std::unique_ptr<Engine> make_mpi_engine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer,
                                        Bytes message_size);
// MPI_Alltoallv of the same messages as our own.
std::unique_ptr<Engine> make_mpi_engine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer,
                                        const Traffic& traffic);

template <TransferMode Mode>
class FabricEngine final : public Engine {
public:
    FabricEngine(Exchange<Mode> exchange, Post post, SelfCopy self_copy)
        : exchange_(std::move(exchange)), post_(post), self_copy_(self_copy) {}

    void prepare(std::uint64_t op) override {
        exchange_.begin(op);
        if (post_ == Post::before) exchange_.post_all_receives();
    }
    bool progress() override { return exchange_.progress(); }
    Moments run() override {
        if (self_copy_.size != 0) [[unlikely]]
            self_copy_.run();
        return exchange_.run();
    }
    bool has_arrived(Rank source) const override { return exchange_.has_arrived(source); }
    std::span<const Nanoseconds> arrival_times() const override { return exchange_.arrival_times(); }

private:
    Exchange<Mode> exchange_;
    Post post_;
    SelfCopy self_copy_;
};

} // namespace a2aperf
