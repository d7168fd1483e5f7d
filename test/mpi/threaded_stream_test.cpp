// SPDX-License-Identifier: BSD-3-Clause
#include "measure/threaded_stream.hpp"

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/fabric/completion_level.hpp"
#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/read.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "a2aperf/transfer/write.hpp"
#include "a2aperf/transfer/write_imm.hpp"
#include "test/mpi/given_up.hpp"
#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::GivenUp;
using test::job;
using test::kMessage;
using test::Rig;

namespace {

constexpr std::int64_t kMessages = 2000;
constexpr Duration kByNumber{.length = 3'600'000'000'000, .tick = 100'000'000, .ends_by_number = true};

struct Ends {
    explicit Ends(const char* mode) : rig({mode}, 64 * job().ranks(), 2, flow_demands()) {}
    StreamSettings settings(int window) {
        StreamSettings asked{.window = window, .most = kMessages, .matches_in_order = true, .checks_all = true};
        asked.op = rig.loop.next_op();
        (void)rig.loop.next_op(); // of the credits
        return asked;
    }

    Rig rig;
    DurationLoop durations{job(), rig.clock, rig.deadline};
};

template <class Mode>
void check_all(const char* mode) {
    Ends ends(mode);
    const auto both = ends.rig.channels.all();
    for (const int window : {1, 7, 40}) {
        std::array<std::atomic<int>, 2> pinned{};
        ThreadedStream<Mode> stream(job(), *both[0], *both[1], kMessage, ends.settings(window), ends.rig.deadline,
                                    [&](int end) { ++pinned[end]; });
        TickSamples samples(stream.kCounters);
        ends.durations.run(stream, kByNumber, samples);
        CHECK(pinned[0] == 1);
        CHECK(pinned[1] == 1);
        CHECK(stream.sweep()); // nothing is left
        CHECK(stream.totals()[0] == kMessages);
        CHECK(stream.totals()[1] == kMessages);
        CHECK(stream.is_over());
        const FlowMoments moments = stream.moments();
        CHECK(moments.begin != kNoMoment);
        CHECK(moments.receive_done >= moments.begin);
    }
}

} // namespace

TEST_CASE("a thread for each end: every message of every rank to itself comes once") {
    check_all<Tagged>("tagged");
    check_all<Msg>("msg");
    check_all<WriteImm>("write-imm");
    check_all<Write>("write");
    check_all<Read>("read");
}

TEST_CASE("what fails in the receiving thread ends the sender's, and is said there") {
    Ends ends("tagged");
    const auto both = ends.rig.channels.all();
    ThreadedStream<Tagged> stream(job(), *both[0], *both[1], kMessage, ends.settings(7), ends.rig.deadline,
                                  [](int end) {
                                      if (end == 1) throw std::runtime_error("no such core");
                                  });
    stream.prepare();
    CHECK_THROWS_WITH(
        [&] {
            for (;;) (void)stream.advance();
        }(),
        "no such core");
}

TEST_CASE("where the receiving thread does not come back, its rank says that it waits for it, and gives up") {
    Ends ends("tagged");
    const auto both = ends.rig.channels.all();
    GivenUp given_up;
    const auto stay_away = [&](int end) {
        if (end == 1) given_up.stay_away();
    };
    const Deadline soon(Polling::yield, 50'000'000);
    { ThreadedStream<Tagged>(job(), *both[0], *both[1], kMessage, ends.settings(7), soon, stay_away); }
    REQUIRE(given_up.said().size() == 1);
    CHECK(given_up.said()[0].find(job().who(job().rank()) + " waits for its receiving thread") == 0);

    {
        ThreadedStream<Tagged> stream(job(), *both[0], *both[1], kMessage, ends.settings(7), soon, stay_away);
        stream.prepare();
        (void)stream.advance();
        CHECK_THROWS_WITH_AS(stream.progress(), given_up.said()[0].c_str(), RunError);
    }
    REQUIRE(given_up.said().size() == 2);
    CHECK(given_up.said()[1] == given_up.said()[0]);
}

TEST_CASE("who never started, or does not go on, leaves no thread behind") {
    Ends ends("tagged");
    const auto both = ends.rig.channels.all();
    {
        ThreadedStream<Tagged>(job(), *both[0], *both[1], kMessage, ends.settings(7), ends.rig.deadline,
                               [](int) {});
    }
    ThreadedStream<Tagged> stream(job(), *both[0], *both[1], kMessage, ends.settings(7), ends.rig.deadline,
                                  [](int) {});
    stream.prepare();
    (void)stream.advance();
}
