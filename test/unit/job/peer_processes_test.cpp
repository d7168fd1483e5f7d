// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/peer_processes.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// Waits for its end, forked from the test.
class Child {
public:
    Child() : id_(fork()) {
        if (id_ == 0)
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

PeerProcesses::Process process(pid_t id) {
    return {PeerProcesses::own().home, id};
}

} // namespace

TEST_CASE("processes that end are told, also before anybody reaps them") {
    Child first;
    Child second;
    const Child third;
    const std::array ranks{PeerProcesses::own(), process(first.id()), process(second.id()), process(third.id())};
    const PeerProcesses peers(ranks);
    CHECK(peers.ended().empty());
    first.kill();
    CHECK(peers.ended() == std::vector<Rank>{1});
    second.end();
    CHECK(peers.ended() == std::vector<Rank>{1, 2});
}

TEST_CASE("a process that is stopped has not ended") {
    const Child child;
    const std::array ranks{PeerProcesses::own(), process(child.id())};
    const PeerProcesses peers(ranks);
    kill(child.id(), SIGSTOP);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child.id()), &info, WSTOPPED | WNOWAIT);
    CHECK(peers.ended().empty());
}

TEST_CASE("of what cannot be seen nothing is said") {
    Child child;
    child.end();
    const std::array ranks{PeerProcesses::own(), process(child.id()), PeerProcesses::Process{1, getppid()},
                           PeerProcesses::Process{}};
    CHECK(PeerProcesses(ranks).ended().empty());
    CHECK(PeerProcesses().ended().empty());
}
