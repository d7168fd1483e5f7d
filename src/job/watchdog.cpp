// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/watchdog.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {
namespace {

// Prepared before the timer is armed: a signal handler may only write and leave.
struct Line {
    std::array<char, 512> text{};
    std::size_t length = 0;

    void set(const std::string& message) {
        const std::string line = message.empty() ? "" : "a2aperf: " + message + "\n";
        length = std::min(line.size(), text.size());
        std::copy_n(line.begin(), length, text.begin());
    }
};
Line g_message;
Line g_stopped;
std::atomic<bool> g_is_in_call{false};
std::atomic<int> g_stop_number{0};

extern "C" void give_up(int /*signal*/) {
    const int number = g_stop_number.load();
    if (number != 0 && !g_is_in_call.load()) return; // it ended while the signal was being noted
    const Line& line = number != 0 ? g_stopped : g_message;
    const int status = number != 0 ? StopSignal::exit_status(number) : 1;
    if (write(STDERR_FILENO, line.text.data(), line.length) < 0) _exit(status);
    _exit(status);
}

void set_timer(Nanoseconds timeout) {
    itimerval timer{};
    timer.it_value.tv_sec = timeout / 1'000'000'000;
    timer.it_value.tv_usec = timeout % 1'000'000'000 / 1000;
    setitimer(ITIMER_REAL, &timer, nullptr);
}

} // namespace

Watchdog::Watchdog(Nanoseconds timeout, const std::string& message, const std::string& stopped)
    : timeout_(timeout) {
    g_message.set(message);
    g_stopped.set(stopped);
    struct sigaction action {};
    action.sa_handler = give_up;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, nullptr);
}

void Watchdog::arm() const {
    set_timer(timeout_);
}

// The flag first, as the handler has the number first: one of the two sees both.
void Watchdog::enter() const {
    g_is_in_call.store(true);
    if (const int number = StopSignal::number()) hasten(number);
}

void Watchdog::disarm() const {
    g_is_in_call.store(false);
    set_timer(0);
}

void Watchdog::hasten(int signal_number) {
    constexpr Nanoseconds kPatience = 800'000'000;
    if (!g_is_in_call.load()) return;
    g_stop_number.store(signal_number);
    set_timer(kPatience);
}

} // namespace a2aperf
