// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/watchdog.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {
namespace {

// A signal's handler reaches these, on whatever thread it runs and whether there is a watchdog or not.
enum class Phase { outside, in_call, being_left };
std::atomic<Phase> g_phase{Phase::outside};
std::atomic<Nanoseconds> g_deadline{0};
std::atomic<int> g_stop_number{0};
std::atomic<bool> g_is_over{false};
std::atomic<int> g_bell{-1}; // once made it stays

void ring() {
    const std::uint64_t one = 1;
    const int bell = g_bell.load();
    if (bell >= 0 && write(bell, &one, sizeof one) < 0) return; // it rings already
}

void sleep_until(Nanoseconds moment) {
    constexpr Nanoseconds kMillisecond = 1'000'000;
    const Nanoseconds left = std::max<Nanoseconds>(0, moment - now_ns()) / kMillisecond + 1;
    pollfd bell{g_bell.load(), POLLIN, 0};
    if (poll(&bell, 1, static_cast<int>(std::min<Nanoseconds>(left, std::numeric_limits<int>::max()))) > 0) {
        std::uint64_t rung = 0;
        if (read(bell.fd, &rung, sizeof rung) < 0) return;
    }
}

[[noreturn]] void end_process(const Watchdog::LeaveCall& leave_call, int signal_number) {
    int status = 1;
    try {
        status = leave_call(signal_number);
    } catch (...) { // nobody is left to tell
    }
    _exit(status);
}

void watch(Nanoseconds timeout, Nanoseconds after_signal, const Watchdog::LeaveCall& leave_call) {
    std::optional<Nanoseconds> stop_by;
    while (!g_is_over.load()) {
        const Nanoseconds now = now_ns();
        const int number = g_stop_number.load();
        if (number != 0 && !stop_by) stop_by = now + after_signal;
        // Who was stopped himself is not to complain of others when he is woken to be ended.
        const Nanoseconds due = stop_by ? std::min(g_deadline.load(), *stop_by)
                                        : std::max(g_deadline.load(), StopSignal::awaited_until());
        Phase phase = Phase::in_call;
        if (now >= due && g_phase.compare_exchange_strong(phase, Phase::being_left))
            end_process(leave_call, number);
        // Outside of the call others have deadlines; it may begin at any time.
        sleep_until(now < due ? due : now + (stop_by ? after_signal : timeout));
    }
}

} // namespace

Watchdog::Watchdog(Nanoseconds timeout, Nanoseconds after_signal, LeaveCall leave_call) : timeout_(timeout) {
    if (g_bell.load() < 0) g_bell.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (g_bell.load() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    arm();
    // Signals are for the threads that were there before.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread(watch, timeout, after_signal, std::move(leave_call));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
    g_is_over.store(true);
    ring();
    thread_.join();
    g_is_over.store(false);
}

void Watchdog::arm() const {
    g_deadline.store(now_ns() + timeout_, std::memory_order_relaxed);
}

void Watchdog::enter() {
    g_phase.store(Phase::in_call, std::memory_order_release);
}

void Watchdog::leave() {
    if (g_phase.exchange(Phase::outside) == Phase::being_left)
        for (;;) pause();
}

void Watchdog::hasten(int signal_number) {
    g_stop_number.store(signal_number);
    ring();
}

} // namespace a2aperf
