// SPDX-License-Identifier: BSD-3-Clause
// A rank of this machine that has stopped itself.
#pragma once

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include <sys/types.h>

namespace a2aperf::test {

// Lets a rank that raises SIGSTOP go on. One that has not come to it yet would lose the signal, and stop for good.
inline void wake_stopped(pid_t process) {
    std::string state;
    do {
        std::this_thread::yield();
        std::ifstream file("/proc/" + std::to_string(process) + "/stat");
        std::getline(file, state);
        if (state.empty()) return; // it is gone
        state.erase(0, state.rfind(')') + 2);
    } while (!state.starts_with('T'));
    kill(process, SIGCONT);
}

} // namespace a2aperf::test
