// SPDX-License-Identifier: BSD-3-Clause
// A process that a test ends when it wants to.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace a2aperf::test {

// Forked from the test: does what is asked of it, and waits for its end.
class Child {
public:
    explicit Child(const std::function<void()>& first = [] {}) : id_(fork()) {
        if (id_ != 0) return;
        first();
        for (;;) pause();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (!is_reaped_) end();
    }
    pid_t id() const { return id_; }
    // Ended, but not yet reaped.
    void kill() const {
        ::kill(id_, SIGKILL);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT);
    }
    void end() {
        ::kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
        is_reaped_ = true;
    }

private:
    pid_t id_;
    bool is_reaped_ = false;
};

} // namespace a2aperf::test
