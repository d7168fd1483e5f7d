// SPDX-License-Identifier: BSD-3-Clause
// A rank's stream to itself with a thread for each end: the caller's sends over one channel, another one receives
// over the other, and neither takes a lock or touches what is the other's. A provider's domain belongs to one
// thread at a time (FI_THREAD_DOMAIN), so each channel has its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/deadline.hpp"

namespace a2aperf {

// Ends are 0, the sender, and 1, the receiver.
using PinEnd = std::function<void(int end)>;

// What a rank sends itself over one goes to the other, until its end.
class FacingChannels {
public:
    FacingChannels(Channel& one, Channel& other) : one_(one), other_(other) {
        one_.face(other_);
        other_.face(one_);
    }
    ~FacingChannels() {
        one_.face_itself();
        other_.face_itself();
    }
    FacingChannels(const FacingChannels&) = delete;
    FacingChannels& operator=(const FacingChannels&) = delete;

private:
    Channel& one_;
    Channel& other_;
};

// What DurationLoop runs. The receiver's thread runs from the first advance() to the next progress(), the end;
// before and after it the caller's looks at both. What either end counts is its own, and told by a word of its own.
template <class Mode>
class ThreadedStream {
public:
    static constexpr auto kCounters = CreditStream<Mode>::kCounters;

    // The channels face each other until its end. pin: what either thread calls first, with the number of its end.
    ThreadedStream(const Job& job, Channel& sending, Channel& receiving, Bytes message_size,
                   const StreamSettings& settings, const Deadline& deadline, const PinEnd& pin)
        : job_(job), facing_(sending, receiving), deadline_(deadline), pin_(pin),
          sender_(job, sending, message_size, end(settings, {job.rank()}, {})),
          receiver_(job, receiving, message_size, end(settings, {}, {job.rank()})), thread_([this] { receive(); }) {
    }
    // The thread uses all that is here: it ends, or the process does.
    ~ThreadedStream() {
        phase_.store(Phase::over, std::memory_order_release);
        phase_.notify_one();
        if (!comes_back()) job_.give_up(held_up());
        thread_.join();
    }
    ThreadedStream(const ThreadedStream&) = delete;
    ThreadedStream& operator=(const ThreadedStream&) = delete;

    void prepare() {
        pin_(0);
        sender_.prepare();
        receiver_.prepare();
        phase_.store(Phase::armed, std::memory_order_release); // it is awake when the duration starts
        phase_.notify_one();
    }
    // Its thread does not run yet.
    void open(Nanoseconds start, Nanoseconds end) {
        sender_.open(start, end);
        receiver_.open(start, end);
    }
    bool advance() {
        if (!is_running_) [[unlikely]]
            start();
        const bool has_sent = sender_.advance();
        counts_[0] = sender_.counters()[0];
        counts_[1] = received_.load(std::memory_order_relaxed);
        if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]]
            stop_and_fail();
        return has_sent;
    }
    bool progress() {
        if (is_running_) stop_and_fail();
        const bool has_sent = sender_.progress();
        const bool has_received = receiver_.progress();
        counts_ = {sender_.counters()[0], receiver_.counters()[1]};
        return has_sent || has_received;
    }
    // The sender's part is this thread's, the receiver's is told.
    bool is_over() const { return sender_.is_over() && is_received_.load(std::memory_order_acquire); }
    bool has_peers() const { return true; }
    std::span<const std::uint64_t> counters() const { return counts_; }
    std::span<const std::int64_t> started() const {
        started_.assign(sender_.started().begin(), sender_.started().end());
        started_[self()] += receiver_.started()[self()];
        return started_;
    }
    // What each end has for the other is known here.
    void expect(std::span<const std::int64_t>) {
        receiver_.expect(std::vector(sender_.started().begin(), sender_.started().end()));
        sender_.expect(std::vector(receiver_.started().begin(), receiver_.started().end()));
    }
    bool is_drained() const { return sender_.is_drained() && receiver_.is_drained(); }
    // Of the receiver nothing is looked at while its thread runs.
    std::string waiting_for() const {
        if (is_running_) return sender_.waiting_for();
        return fmt::format("{}, {}", sender_.waiting_for(), receiver_.waiting_for());
    }
    // They are one process: what becomes silent is its stream, which the loop sees.
    void see_peers(std::vector<PeerSeen>& seen) const { seen.clear(); }
    std::uint64_t most_ahead() const { return receiver_.most_ahead(); }
    Nanoseconds longest_pause() const { return longest_pause_; }

    bool injects() const { return sender_.injects(); }
    FlowMoments moments() const {
        return {sender_.moments().begin, sender_.moments().send_done, receiver_.moments().receive_done};
    }
    std::span<const std::int64_t> totals() const {
        totals_ = {sender_.totals()[0], receiver_.totals()[1], sender_.totals()[2]};
        return totals_;
    }
    void expect_sweep() {
        sender_.expect_sweep();
        receiver_.expect_sweep();
    }
    bool sweep() {
        const bool is_done = sender_.sweep();
        return receiver_.sweep() && is_done;
    }

private:
    enum class Phase { waiting, armed, running, paused, over };

    static StreamSettings end(StreamSettings settings, std::vector<Rank> to, std::vector<Rank> from) {
        settings.to = std::move(to);
        settings.from = std::move(from);
        return settings;
    }
    std::size_t self() const { return static_cast<std::size_t>(job_.rank()); }

    void start() {
        is_running_ = true;
        phase_.store(Phase::running, std::memory_order_release);
    }
    // The receiver's thread is there until the end, without a use of the processor, so that it is counted.
    void stop() {
        phase_.store(Phase::paused, std::memory_order_release);
        Deadline deadline(deadline_.polling(), deadline_.timeout());
        while (!is_idle_.load(std::memory_order_acquire))
            if (!deadline.idle() && deadline.waited() >= deadline.timeout() + longest_pause_) {
                is_held_up_ = true;
                throw held_up();
            }
        is_running_ = false;
    }
    // False when the receiver's thread is not back within the deadline. A signal that has waited for too long ends
    // the process from here: nothing can be thrown.
    bool comes_back() const noexcept {
        const Nanoseconds begin = now_ns();
        while (!is_idle_.load(std::memory_order_acquire)) {
            if (StopSignal::is_overdue()) job_.leave(StopSignal::number());
            if (is_held_up_ || now_ns() - begin >= deadline_.timeout() + longest_pause_) return false;
            sched_yield();
        }
        return true;
    }
    RunError held_up() const {
        return RunError(fmt::format("{} waits for its receiving thread, which has not returned from the provider "
                                    "for {}",
                                    job_.who(job_.rank()), format_duration(deadline_.timeout() + longest_pause_)),
                        EndReason::fabric_deadline);
    }
    void stop_and_fail() {
        stop();
        if (failure_) std::rethrow_exception(failure_);
    }

    // The receiver's thread.
    void receive() {
        try {
            pin_(1);
            phase_.wait(Phase::waiting, std::memory_order_acquire);
            while (phase_.load(std::memory_order_acquire) == Phase::armed) deadline_.rest();
            while (phase_.load(std::memory_order_acquire) == Phase::running) receive_some();
        } catch (...) {
            failure_ = std::current_exception();
            has_failed_.store(true, std::memory_order_release);
        }
        is_idle_.store(true, std::memory_order_release);
        for (Phase phase; (phase = phase_.load(std::memory_order_acquire)) != Phase::over;) phase_.wait(phase);
    }
    void receive_some() {
        if (receiver_.advance()) {
            received_.store(receiver_.counters()[1], std::memory_order_relaxed);
            if (receiver_.is_over()) is_received_.store(true, std::memory_order_release);
            deadline_.reset();
            return;
        }
        if (deadline_.idle() || is_received_.load(std::memory_order_relaxed)) return;
        if (deadline_.waited() < deadline_.timeout() + longest_pause_) return;
        throw RunError(fmt::format("in the duration nothing came for {}; the receiving thread of {} waits for {}",
                                   format_duration(deadline_.waited()), job_.who(job_.rank()),
                                   receiver_.waiting_for()),
                       EndReason::fabric_deadline);
    }

    static constexpr std::size_t kLine = 64; // bytes that one core has for itself

    const Job& job_;
    FacingChannels facing_;
    Deadline deadline_; // the receiver's thread's
    PinEnd pin_;
    CreditStream<Mode> sender_;
    alignas(kLine) CreditStream<Mode> receiver_;
    const Nanoseconds longest_pause_ = receiver_.longest_pause();
    alignas(kLine) std::atomic<std::uint64_t> received_{0};
    std::atomic<bool> is_received_{false}, has_failed_{false}, is_idle_{false};
    std::exception_ptr failure_{};
    alignas(kLine) std::atomic<Phase> phase_{Phase::waiting};
    bool is_running_ = false, is_held_up_ = false;
    std::array<std::uint64_t, 2> counts_{};
    mutable std::array<std::int64_t, 3> totals_{};
    mutable std::vector<std::int64_t> started_;
    std::thread thread_; // the last: it uses all of them
};

// Of a point with a thread for each end, over the two channels that it has.
std::unique_ptr<Flow> make_threaded_stream(const EngineParts& parts, const StreamSettings& settings);

} // namespace a2aperf
