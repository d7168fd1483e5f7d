// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/job.hpp"

#include <algorithm>
#include <csignal>
#include <numeric>
#include <string>
#include <thread>

#include <unistd.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/base/utf8.hpp"
#include "a2aperf/job/launcher.hpp"
#include "test/mpi/mpi_test.hpp"
#include "test/mpi/stopped.hpp"

using namespace a2aperf;
using test::job;

namespace {

// Empty for rank 0, then longer and longer, with a NUL and bytes that are no ASCII inside.
std::string text_of(Rank rank) {
    return std::string(static_cast<std::size_t>(rank * rank) * 1000, static_cast<char>('a' + rank)) +
           (rank > 0 ? std::string("\0µ", 3) : "");
}

} // namespace

TEST_CASE("ranks are numbered and know how many they are") {
    REQUIRE(launched_ranks().has_value());
    CHECK(job().ranks() == *launched_ranks());
    CHECK(job().rank() >= 0);
    CHECK(job().rank() < job().ranks());
    CHECK(job().is_root() == (job().rank() == 0));
    CHECK(job().layout().ranks() == job().ranks());
    CHECK(job().who(job().rank()) == "rank " + std::to_string(job().rank()) + " (" + job().host(0) + ")");
}

TEST_CASE("a shuffle renumbers the ranks by its seed, and without one they are the launcher's") {
    std::vector<int> position(static_cast<std::size_t>(job().ranks()));
    std::iota(position.begin(), position.end(), 0);
    if (test::shuffle().is_wanted) Random(test::shuffle().seed).shuffle(std::span(position));

    const auto world = job().world_ranks();
    REQUIRE(world.size() == position.size());
    for (std::size_t rank = 0; rank < world.size(); ++rank)
        CHECK(position[static_cast<std::size_t>(world[rank])] == static_cast<int>(rank));
    REQUIRE(launched_rank().has_value());
    CHECK(world[static_cast<std::size_t>(job().rank())] == *launched_rank());
}

TEST_CASE("each rank gets what every other has for it") {
    std::vector<std::int64_t> mine;
    std::vector<std::int64_t> expected;
    for (std::int64_t peer = 0; peer < job().ranks(); ++peer) {
        mine.push_back(1000 * job().rank() + peer);
        expected.push_back(1000 * peer + job().rank());
    }
    CHECK(job().all_to_all(mine) == expected);
}

TEST_CASE("values of all ranks arrive in rank order") {
    const int mine = 100 + job().rank();
    std::vector<int> expected(static_cast<std::size_t>(job().ranks()));
    std::iota(expected.begin(), expected.end(), 100);
    CHECK(job().all_gather(mine) == expected);
    CHECK(job().gather(std::span(&mine, 1)) == (job().is_root() ? expected : std::vector<int>{}));

    const std::vector<std::int64_t> pair{job().rank(), -job().rank()};
    const auto pairs = job().all_gather(std::span(pair));
    REQUIRE(pairs.size() == 2 * expected.size());
    for (int rank = 0; rank < job().ranks(); ++rank) {
        CHECK(pairs[static_cast<std::size_t>(2 * rank)] == rank);
        CHECK(pairs[static_cast<std::size_t>(2 * rank + 1)] == -rank);
    }
    CHECK(job().all_gather(std::span<const int>{}).empty());
}

TEST_CASE("texts may be of different lengths, empty ones among them") {
    const auto all = job().all_gather_text(text_of(job().rank()));
    const auto at_root = job().gather_text(text_of(job().rank()));
    REQUIRE(all.size() == static_cast<std::size_t>(job().ranks()));
    for (Rank rank = 0; rank < job().ranks(); ++rank) CHECK(all[static_cast<std::size_t>(rank)] == text_of(rank));
    CHECK(at_root == (job().is_root() ? all : std::vector<std::string>{}));
    CHECK(job().all_gather_text("") == std::vector<std::string>(all.size()));
}

TEST_CASE("a broadcast gives every rank the root's value") {
    double value = job().is_root() ? 2.5 : -1;
    job().broadcast(value);
    CHECK(value == 2.5);
    for (const std::string& text : {std::string(), std::string("short"), std::string(100'000, 'x')}) {
        std::string mine = job().is_root() ? text : "something else";
        job().broadcast_text(mine);
        CHECK(mine == text);
    }
}

TEST_CASE("max and min") {
    const std::int64_t ranks = job().ranks();
    const std::int64_t large = std::int64_t{1} << 60;
    CHECK(job().max(large + job().rank()) == large + ranks - 1);
    CHECK(job().max(-5 - job().rank()) == -5);
    CHECK(job().min(large + job().rank()) == large);
}

TEST_CASE("messages between two ranks arrive in order") {
    const Rank next = (job().rank() + 1) % job().ranks();
    const Rank previous = (job().rank() + job().ranks() - 1) % job().ranks();
    for (std::int64_t turn = 0; turn < 100; ++turn) {
        const std::array<std::int64_t, 2> out{turn, job().rank()};
        std::array<std::int64_t, 2> in{};
        if (job().rank() % 2 == 0) job().send(next, out);
        job().receive(previous, in);
        if (job().rank() % 2 != 0) job().send(next, out);
        CHECK(in == std::array<std::int64_t, 2>{turn, previous});
    }
}

TEST_CASE("nobody passes a barrier before the last has come") {
    for (Rank last = 0; last < job().ranks(); ++last) {
        job().barrier();
        if (job().rank() == last) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const Nanoseconds entered = now_ns();
        job().barrier();
        const Nanoseconds left = now_ns();
        CHECK(left >= job().max(entered));
    }
}

TEST_CASE("an agreement is a barrier and an element-wise maximum") {
    for (Rank last = 0; last < job().ranks(); ++last) {
        if (job().rank() == last) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const Nanoseconds entered = now_ns();
        job().enter({entered, job().rank(), -job().rank()});
        while (!job().is_agreed()) std::this_thread::yield();
        const Nanoseconds left = now_ns();
        const auto [time, largest, smallest] = job().result();
        CHECK(left >= time);
        CHECK(time == job().max(entered));
        CHECK(largest == job().ranks() - 1);
        CHECK(smallest == 0);
    }
}

namespace {

// All ranks but the last wait until the timeout for the last, which is stopped meanwhile; then all go on.
template <class Wait>
void wait_in_vain(Wait&& wait) {
    const Rank stopped = job().ranks() - 1;
    const auto pids = job().all_gather(static_cast<std::int64_t>(getpid()));
    const Nanoseconds usual = job().timeout();
    job().set_timeout(1'000'000'000);
    if (job().rank() == stopped) {
        raise(SIGSTOP);
        job().barrier(); // the others gave up waiting for this one
    } else {
        wait();
        job().set_timeout(usual);
        // Only when all have given up may the stopped rank come to the barrier.
        std::array<std::int64_t, 1> token{};
        if (!job().is_root()) job().send(0, token);
        for (Rank rank = 1; job().is_root() && rank < stopped; ++rank) job().receive(rank, token);
        if (job().is_root()) test::wake_stopped(static_cast<pid_t>(pids[static_cast<std::size_t>(stopped)]));
    }
    job().set_timeout(usual);
    job().barrier();
}

} // namespace

TEST_CASE("a wait for a stopped rank ends with an error within the timeout") {
    wait_in_vain([] {
        const Nanoseconds begin = now_ns();
        std::string words;
        try {
            job().barrier();
        } catch (const RunError& error) {
            words = error.what();
        }
        CHECK(now_ns() - begin >= job().timeout());
        // The time that passed: the timeout, and more on a machine with other things to do.
        constexpr std::string_view kWaited = "it waited ";
        REQUIRE(words.starts_with(kWaited));
        CHECK(std::stod(words.substr(kWaited.size())) >= 1);
        CHECK(words.find(" s at a barrier for all ranks: ") < words.find(job().who(job().ranks() - 1)));
        CHECK(words.ends_with(" stopped, dead or far behind"));
    });
}

TEST_CASE("a wait that fails is told of before the caller's memory is given away") {
    struct Memory {
        bool& is_there;
        ~Memory() { is_there = false; }
    };
    struct End {}; // a launch would end here
    wait_in_vain([] {
        bool is_there = true;
        bool was_there = false;
        job().set_give_up([&](const std::exception&) {
            was_there = is_there;
            throw End{};
        });
        const auto wait = [&] {
            const Memory memory{is_there};
            job().barrier();
        };
        CHECK_THROWS_AS(wait(), End);
        CHECK(was_there);
        CHECK(!is_there);
        job().set_give_up({});
    });
}

TEST_CASE("rank 0 learns why another ends the job, in whole characters") {
    std::string why = "node \u00fc: ";
    for (int i = 0; i < 600; ++i) why += "\u00b5"; // two bytes each
    if (job().rank() == job().ranks() - 1) job().tell_root(why, EndReason::bad_data);
    job().barrier();
    const auto [reason, words] = job().last_words();
    if (!job().is_root()) return;
    CHECK(reason == EndReason::bad_data);
    CHECK(words.size() > 990);
    CHECK(words.size() <= 1000);
    CHECK(words == valid_utf8(words));
    CHECK(words.starts_with("node \u00fc: \u00b5"));
    CHECK(words.ends_with("\u00b5\u2026"));
    CHECK(job().last_words().text.empty());
}

// Once in a job: it ends after that, and what was said to those that did not listen stays under way.
TEST_CASE("those that wait in vain learn who does not wait: one of many, or one or both of the two that listen") {
    std::vector<Rank> absent{job().ranks() - 1};
    if (job().ranks() == 3) absent = {0};
    if (job().ranks() == 4) absent = {0, 1};
    if (std::ranges::find(absent, job().rank()) == absent.end()) CHECK(job().missing_ranks() == absent);
    job().barrier();
}
