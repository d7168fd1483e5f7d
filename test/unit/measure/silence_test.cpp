// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/silence.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

constexpr Nanoseconds kTimeout = 64'000;
constexpr Nanoseconds kLook = 1'000;
constexpr std::uint64_t kAhead = 10;

// Two peers, of which one is heard of at every look.
struct Watch {
    explicit Watch(PeerSeen peer) {
        silence.seen() = {{5, "answers", true, 0}, peer};
        silence.start(now);
    }

    Silent look(Nanoseconds step = kLook, std::uint64_t more = kAhead) {
        now += step;
        counted += more;
        ++silence.seen()[0].heard;
        return silence.look(now, counted);
    }
    PeerSeen& peer() { return silence.seen()[1]; }

    // How many looks it takes until the peer is told to be silent.
    int looks(Nanoseconds step = kLook, std::uint64_t more = kAhead) {
        for (int count = 1; count < 1000; ++count)
            if (const Silent silent = look(step, more); !silent.peers.empty()) {
                CHECK(silent.peers == std::vector<Rank>{peer().peer});
                CHECK(silent.due == peer().due);
                return count;
            }
        return -1;
    }

    Silence silence{kTimeout, kAhead};
    Nanoseconds now = 1'000'000;
    std::uint64_t counted = 0;
};

} // namespace

TEST_CASE("a peer that owes an answer is silent after the timeout, whatever the others do") {
    Watch watch({7, "answers", true, 3});
    CHECK(watch.looks() == 64);
    const Silent silent = watch.look();
    CHECK(silent.peers == std::vector<Rank>{7});
    CHECK(silent.lasted == 65 * kLook);
}

TEST_CASE("one that sends by itself has longer: it may be held by another") {
    CHECK(Watch({7, "requests", false, 0}).looks() == 72);
}

TEST_CASE("of whom nothing is due, none is silent; its time begins with what it owes") {
    Watch watch({7, "", true, 3});
    CHECK(watch.looks() == -1);
    watch.peer().due = "answers";
    CHECK(watch.looks() == 64);
}

TEST_CASE("time begins anew with what comes") {
    Watch watch({7, "messages", true, 3});
    for (int i = 0; i < 63; ++i) CHECK(watch.look().peers.empty());
    ++watch.peer().heard;
    CHECK(watch.look().peers.empty());
    CHECK(watch.looks() == 64);
}

TEST_CASE("a rank that was held up looks again before it calls another one silent") {
    Watch watch({7, "answers", true, 3});
    CHECK(watch.look(100 * kTimeout).peers.empty());
    ++watch.peer().heard; // what had come meanwhile is read after that look
    CHECK(watch.look().peers.empty());
    CHECK(watch.looks(100 * kTimeout) == 8);
}

TEST_CASE("before more has come than can be ahead of it, a peer is not silent") {
    CHECK(Watch({7, "answers", true, 3}).looks(kLook, 0) == -1);
    Watch slow({7, "answers", true, 3});
    for (int i = 0; i < 100; ++i) CHECK(slow.look(kLook, 0).peers.empty());
    CHECK(slow.look(kLook, kAhead).peers.empty());
    CHECK(slow.look(kLook, 1).peers == std::vector<Rank>{7});
}

TEST_CASE("those that owe the same are told together") {
    Watch watch({7, "credits", true, 3});
    watch.silence.seen() = {{5, "credits", true, 0}, {6, "messages", true, 0}, {7, "credits", true, 0}};
    watch.silence.start(watch.now);
    watch.silence.seen()[0].heard = 1; // and never again
    const auto look = [&] {
        watch.counted += kAhead;
        return watch.silence.look(watch.now += kLook, watch.counted);
    };
    for (int i = 0; i < 63; ++i) CHECK(look().peers.empty());
    Silent silent = look();
    CHECK(silent.due == "messages");
    CHECK(silent.peers == std::vector<Rank>{6});
    watch.silence.seen()[1].due = "";
    silent = look();
    CHECK(silent.due == "credits");
    CHECK(silent.peers == std::vector<Rank>{5, 7});
    CHECK(silent.lasted == 64 * kLook);
}

TEST_CASE("a look is due 64 times in a timeout") {
    Watch watch({7, "answers", true, 3});
    CHECK_FALSE(watch.silence.is_due(watch.now + kLook - 1));
    CHECK(watch.silence.is_due(watch.now + kLook));
}
