// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/stop_signal.hpp"

#include <atomic>
#include <csignal>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

// Open MPI kills ranks that are still there a second after it told them to stop, and the file must be closed by
// then.
constexpr Nanoseconds kPatience = 300'000'000;

std::atomic<int> g_number{0};
std::atomic<Nanoseconds> g_since{0};
static_assert(std::atomic<Nanoseconds>::is_always_lock_free, "a signal handler may write it");

extern "C" void note_signal(int number) {
    if (g_number.load(std::memory_order_relaxed) != 0) return;
    g_since.store(now_ns(), std::memory_order_relaxed);
    g_number.store(number, std::memory_order_release);
}

} // namespace

void StopSignal::install() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
}

int StopSignal::number() {
    return g_number.load(std::memory_order_acquire);
}

bool StopSignal::is_overdue() {
    return number() != 0 && now_ns() - g_since.load(std::memory_order_relaxed) > kPatience;
}

void StopSignal::throw_overdue() {
    if (is_overdue()) throw Interrupted(number());
}

} // namespace a2aperf
