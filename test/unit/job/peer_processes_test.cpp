// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/peer_processes.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <doctest/doctest.h>

#include "support/child.hpp"

using namespace a2aperf;
using test::Child;

namespace {

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
