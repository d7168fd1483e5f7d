// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/credit_stream.hpp"

#include <algorithm>
#include <utility>

#include "a2aperf/fabric/completion_level.hpp"
#include "a2aperf/transfer/asking.hpp"
#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/read.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "a2aperf/transfer/write.hpp"
#include "a2aperf/transfer/write_imm.hpp"
#include "test/mpi/rig.hpp"
#include "test/mpi/watched.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::Rig;
using test::Watched;

namespace {

constexpr Duration kLong{.length = 3'600'000'000'000, .tick = 100'000'000};
constexpr std::int64_t kMessages = 400;

// Each of the lower half sends to one of the upper; an odd one has nothing to do.
StreamSettings halves() {
    const int half = job().ranks() / 2;
    const Rank rank = job().rank();
    StreamSettings settings;
    if (rank < half) settings.to = {rank + half};
    if (rank >= half && rank < 2 * half) settings.from = {rank - half};
    return settings;
}

// Every rank sends to the next one.
StreamSettings ring() {
    StreamSettings settings;
    settings.to = {(job().rank() + 1) % job().ranks()};
    settings.from = {(job().rank() + job().ranks() - 1) % job().ranks()};
    return settings;
}

// Every rank sends to all, itself among them.
StreamSettings all() {
    StreamSettings settings;
    for (Rank rank = 0; rank < job().ranks(); ++rank) settings.to.push_back(rank);
    settings.from = settings.to;
    return settings;
}

struct Streams {
    // Room for the messages and credits of all().
    explicit Streams(const char* mode, Completions given = Completions::all)
        : rig({mode}, 64 * job().ranks(), 1, flow_demands(), given) {}

    template <class Mode>
    std::int64_t run(StreamSettings settings, Bytes message_size, const Duration& duration) {
        settings.op = rig.loop.next_op();
        (void)rig.loop.next_op(); // of the credits
        Watched<CreditStream<Mode>> stream(job(), rig.channel, message_size, settings);
        TickSamples samples(stream.kCounters);
        durations.run(stream, duration, samples);
        CHECK(durations.stop_signal() == 0);
        CHECK(stream.sweep()); // nothing is left
        completions = stream.completions();
        if (settings.injects) CHECK(stream.moments().send_done == stream.sent_by_the_end);
        const auto sent = job().all_gather(stream.totals()[0]);
        const std::int64_t received = stream.totals()[1];
        std::int64_t due = 0;
        for (const Rank rank : settings.from) // all streams of a sender are of as many messages, or it has one
            due += sent[static_cast<std::size_t>(rank)] / static_cast<std::int64_t>(settings.from.size());
        CHECK(received == due);
        CHECK((stream.moments().begin != kNoMoment) ==
              (!settings.to.empty() && sent[static_cast<std::size_t>(job().rank())] > 0));
        return sent[0] / static_cast<std::int64_t>(std::max<std::size_t>(settings.to.size(), 1));
    }

    Rig rig;
    DurationLoop durations{job(), rig.clock, rig.deadline};
    std::int64_t completions = 0; // of the last that ran
};

template <class Mode>
void check_all(const char* mode) {
    Streams streams(mode);
    for (StreamSettings settings : {halves(), ring(), all()})
        for (const int window : {1, 7, 40})
            for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{8}, Bytes{20}, kMessage}) {
                if (size * static_cast<Bytes>(window) > 40 * kMessage) continue;
                CAPTURE(window);
                CAPTURE(size);
                settings.window = window;
                const std::int64_t most = settings.to.size() > 1 ? kMessages / 10 : kMessages;
                settings.most = job().min(most);
                settings.matches_in_order = settings.completes_in_order = true;
                settings.checks_all = true;
                CHECK(streams.run<Mode>(settings, size, kLong) == settings.most);
                Point point = test::point_of(mode, size);
                settings.injects = uses_inject(streams.rig.channel.domain().offer(), point);
                if (settings.injects) CHECK(streams.run<Mode>(settings, size, kLong) == settings.most);
                settings.injects = false;
            }
}

// The endpoint gives no completion that is not asked for: what is verified before a point asks, too.
template <class Mode>
void check_asking(const char* mode) {
    Streams streams(mode, Completions::asked);
    if (selection_trouble(streams.rig.channel.domain().offer())) return; // it gives all
    const Point point = test::point_of(mode);
    find_mode(mode).verify(streams.rig.parts(point, 1));
    for (StreamSettings settings : {halves(), all()})
        for (const int window : {1, 7})
            for (const int cq_mod : {1, 2, 16, 1000})
                for (const Bytes size : {Bytes{0}, kMessage}) {
                    CAPTURE(window);
                    CAPTURE(cq_mod);
                    CAPTURE(size);
                    settings.window = window;
                    settings.cq_mod = cq_mod;
                    settings.completion_flags = FI_COMPLETION;
                    settings.most = 20;
                    settings.matches_in_order = settings.completes_in_order = true;
                    settings.checks_all = true;
                    const bool sends_first = job().all_gather(std::ssize(settings.to))[0] > 0;
                    CHECK(streams.run<Asking<Mode>>(settings, size, kLong) == (sends_first ? 20 : 0));
                    if (cq_mod > 1) CHECK(streams.completions == std::ssize(settings.to) * (20 / cq_mod));
                }
}

// Of all messages, with a level of their own.
template <class Mode>
void check_level(const char* mode, std::uint64_t flag) {
    Streams streams(mode);
    StreamSettings settings = ring();
    settings.window = 7;
    settings.completion_flags = FI_COMPLETION | flag;
    settings.most = 50;
    settings.matches_in_order = settings.completes_in_order = settings.checks_all = true;
    CHECK(streams.run<Asking<Mode>>(settings, kMessage, kLong) == 50);
}

} // namespace

TEST_CASE("each send of so many completes, and no other: the rest is known by the receiver's credit") {
    check_asking<Tagged>("tagged");
    check_asking<WriteImm>("write-imm");
    check_asking<Write>("write");
}

TEST_CASE("sends complete at a level of their own") {
    for (const std::uint64_t flag : {FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE}) {
        check_level<Tagged>("tagged", flag);
        check_level<Msg>("msg", flag);
        check_level<WriteImm>("write-imm", flag);
        check_level<Write>("write", flag);
    }
}

TEST_CASE("every message comes once and in order, whatever the window; point after point over one endpoint") {
    check_all<Tagged>("tagged");
    check_all<Msg>("msg");
}

TEST_CASE("messages that are written come once, whole, and into buffers that are free") {
    check_all<WriteImm>("write-imm");
    check_all<Write>("write");
}

TEST_CASE("messages that are fetched come once, whole, and are not written over before") {
    check_all<Read>("read");
}

// Of many messages of each sender its receiver frees one after the other: no credit comes for a while, and it is
// not there at the end of the duration. It's not silent for that.
TEST_CASE("a receiver that pauses is waited for beyond the timeout") {
    Streams streams("tagged");
    struct Impatient : CreditStream<Tagged> {
        using CreditStream<Tagged>::CreditStream;
        Deadline* deadline = nullptr;
        Deadline patient{Polling::yield, 0};
        bool advance() {
            if (!std::exchange(has_begun, true)) *deadline = Deadline(Polling::yield, 20'000'000);
            return CreditStream<Tagged>::advance();
        }
        void expect(std::span<const std::int64_t> due) {
            *deadline = patient;
            CreditStream<Tagged>::expect(due);
        }
        bool has_begun = false;
    };
    StreamSettings settings = all();
    settings.most = 1;
    CHECK(streams.run<Tagged>(settings, 8, kLong) == 1); // now they are connected
    settings = {};
    for (Rank rank = 1; rank < job().ranks(); ++rank) settings.from.push_back(rank);
    if (job().rank() > 0) settings = {.to = {0}};
    settings.window = 8;
    settings.free_delay = {.time = 30'000'000, .every = 1};
    // A rank whose core another has for as long as that moves nothing.
    std::int64_t moved = 0;
    for (Nanoseconds length = 50'000'000; moved == 0; length *= 2) {
        settings.op = streams.rig.loop.next_op();
        (void)streams.rig.loop.next_op();
        Impatient stream(job(), streams.rig.channel, 8, settings);
        stream.deadline = &streams.rig.deadline;
        stream.patient = streams.rig.deadline;
        TickSamples samples(CreditStream<Tagged>::kCounters);
        streams.durations.run(stream, {.length = length, .tick = 10'000'000}, samples);
        streams.rig.deadline = stream.patient;
        moved = job().min(stream.totals()[job().rank() == 0 ? 1 : 0]);
    }
}

TEST_CASE("a duration ends a stream, and what was sent has come") {
    Streams streams("tagged");
    StreamSettings settings = halves();
    settings.window = 16;
    settings.matches_in_order = settings.completes_in_order = true;
    Duration duration{.length = 55'000'000, .tick = 10'000'000};
    while (streams.run<Tagged>(settings, kMessage, duration) == 0) duration.length *= 2; // nobody had a core
}
