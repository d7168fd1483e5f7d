// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/stop_signal.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/job/watchdog.hpp"

namespace a2aperf {
namespace {

// Open MPI kills ranks that are still there a second after it told them to stop, and the file must be closed by
// then.
constexpr Nanoseconds kToStop = 300'000'000;

// Open MPI's launcher sleeps between waking a rank and telling it to stop, and may have to wait for the CPU.
constexpr Nanoseconds kToStopWhenWoken = 10'000'000'000;

std::atomic<int> g_number{0};
std::atomic<Nanoseconds> g_since{0};
std::atomic<Nanoseconds> g_woken{0}; // 0 = never
std::atomic<bool> g_is_installed{false};
static_assert(std::atomic<Nanoseconds>::is_always_lock_free, "a signal handler may write it");

extern "C" void note_signal(int number) {
    if (g_number.load(std::memory_order_relaxed) != 0) return;
    g_since.store(now_ns(), std::memory_order_relaxed);
    g_number.store(number, std::memory_order_release);
    Watchdog::hasten(number);
}

extern "C" void note_waking(int /*number*/) {
    g_woken.store(now_ns(), std::memory_order_relaxed);
}

} // namespace

void StopSignal::install() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    action.sa_handler = note_waking;
    sigaction(SIGCONT, &action, nullptr);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
    g_is_installed = true;
}

void StopSignal::reinstall() {
    if (g_is_installed) install();
}

int StopSignal::number() {
    return g_number.load(std::memory_order_acquire);
}

bool StopSignal::is_overdue() {
    return number() != 0 && now_ns() - g_since.load(std::memory_order_relaxed) > kToStop;
}

void StopSignal::throw_overdue() {
    if (is_overdue()) throw Interrupted(number());
}

Nanoseconds StopSignal::awaited_until() {
    const Nanoseconds woken = g_woken.load(std::memory_order_relaxed);
    return woken > 0 ? woken + kToStopWhenWoken : 0;
}

bool StopSignal::is_coming(const std::function<void()>& step) {
    const auto deadline = [begin = now_ns()] { return std::max(begin + kToStop, awaited_until()); };
    while (number() == 0 && now_ns() < deadline()) {
        step();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return number() != 0;
}

} // namespace a2aperf
