// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/watchdog.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace a2aperf {
namespace {

// Prepared before the timer is armed: a signal handler may only write and leave.
std::array<char, 512> g_message{};
std::size_t g_length = 0;

extern "C" void give_up(int /*signal*/) {
    if (write(STDERR_FILENO, g_message.data(), g_length) < 0) _exit(1);
    _exit(1);
}

void set_timer(Nanoseconds timeout) {
    itimerval timer{};
    timer.it_value.tv_sec = timeout / 1'000'000'000;
    timer.it_value.tv_usec = timeout % 1'000'000'000 / 1000;
    setitimer(ITIMER_REAL, &timer, nullptr);
}

} // namespace

Watchdog::Watchdog(Nanoseconds timeout, const std::string& message) : timeout_(timeout) {
    const std::string line = "a2aperf: " + message + "\n";
    g_length = std::min(line.size(), g_message.size());
    std::copy_n(line.begin(), g_length, g_message.begin());
    struct sigaction action {};
    action.sa_handler = give_up;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, nullptr);
}

void Watchdog::arm() const {
    set_timer(timeout_);
}

void Watchdog::disarm() const {
    set_timer(0);
}

} // namespace a2aperf
