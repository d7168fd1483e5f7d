// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/echo_engine.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "a2aperf/stats/round_trips.hpp"
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
constexpr std::int64_t kTrips = 100;

// Each of the lower half asks one of the upper; an odd one has nothing to do.
EchoSettings halves() {
    const int half = job().ranks() / 2;
    const Rank rank = job().rank();
    EchoSettings settings;
    if (rank < half) settings.servers = {rank + half};
    if (rank >= half && rank < 2 * half) settings.clients = {rank - half};
    return settings;
}

// Every rank asks the next one.
EchoSettings ring() {
    return {.servers = {(job().rank() + 1) % job().ranks()},
            .clients = {(job().rank() + job().ranks() - 1) % job().ranks()}};
}

std::vector<Rank> others() {
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < job().ranks(); ++rank)
        if (rank != job().rank()) ranks.push_back(rank);
    return ranks;
}

// Every rank asks the last one; and the first one every other.
EchoSettings many_to_one() {
    const Rank last = job().ranks() - 1;
    return job().rank() == last ? EchoSettings{.clients = others()} : EchoSettings{.servers = {last}};
}
EchoSettings one_to_many() {
    return job().rank() == 0 ? EchoSettings{.servers = others()} : EchoSettings{.clients = {0}};
}
EchoSettings all_to_all() {
    return {.servers = others(), .clients = others()};
}

struct Echoes {
    explicit Echoes(const char* mode) : rig({mode}, 64, 1, flow_demands()) {}

    template <class Mode, class Pace = AtOnce>
    std::int64_t run(EchoSettings settings, Bytes answer_size, const Duration& duration, std::size_t most_samples) {
        settings.op = rig.loop.next_op();
        for (int op = 1; op < echo_ops(settings.outstanding); ++op) (void)rig.loop.next_op();
        Watched<EchoEngine<Mode, Pace>> echo(job(), rig.channel, answer_size, settings);
        echo.reserve(most_samples);
        TickSamples samples(echo.kCounters);
        durations.run(echo, duration, samples);
        CHECK(durations.stop_signal() == 0);
        CHECK(echo.sweep()); // nothing is left
        if (settings.injects_requests && settings.injects_answers)
            CHECK(echo.moments().send_done == echo.sent_by_the_end);
        check_samples(echo.totals(), echo.kept(), settings, most_samples);
        check_both_ends(echo.kept());
        if (settings.most > 0)
            CHECK((echo.moments().begin != kNoMoment) == (!settings.servers.empty() || !settings.clients.empty()));
        if (settings.servers.empty() && settings.clients.empty()) CHECK(echo.moments().begin == kNoMoment);
        return echo.totals()[0];
    }

    static void check_samples(std::span<const std::int64_t> totals, const KeptSamples& kept,
                              const EchoSettings& settings, std::size_t most_samples) {
        const auto times = kept.values.front();
        check_buckets(totals, kept);
        REQUIRE(kept.moments.size() == times.size());
        CHECK(static_cast<std::int64_t>(times.size()) + kept.lost == totals[0]);
        CHECK(times.size() <= most_samples);
        if (settings.servers.empty()) CHECK(totals[0] == 0);
        if (times.empty()) return;
        CHECK(*std::min_element(times.begin(), times.end()) > 0);
        CHECK(*std::min_element(times.begin(), times.end()) >= totals[5]);
        CHECK(*std::max_element(times.begin(), times.end()) <= totals[6]);
        if (kept.lost == 0) CHECK(std::accumulate(times.begin(), times.end(), std::int64_t{0}) == totals[1]);
        CHECK(totals[7] == settings.outstanding * std::ssize(settings.servers));
        CHECK(keeps_littles_law(
            {totals[7], totals[0], totals[1], totals[2], totals[3], totals[5], totals[6], totals[4]}));
    }

    // The ranks share one clock: whatever servers tell is between the two moments of the client.
    static void check_both_ends(const KeptSamples& kept) {
        if (!kept.both_ends) return;
        const auto own_clock = [](Nanoseconds moment) { return moment; };
        const ServerMoments told = tell_clients(job(), *kept.both_ends, own_clock);
        REQUIRE(told.came.size() == kept.moments.size());
        REQUIRE(told.answered.size() == kept.moments.size());
        for (std::size_t i = 0; i < kept.moments.size(); ++i) {
            CHECK(kept.moments[i] <= told.came[i]);
            CHECK(told.came[i] <= told.answered[i]);
            CHECK(told.answered[i] <= kept.moments[i] + kept.values.front()[i]);
        }
    }

    // Every round trip is in one, kept or not.
    static void check_buckets(std::span<const std::int64_t> totals, const KeptSamples& kept) {
        TimeHistogram again;
        again.reserve();
        std::int64_t sum = 0;
        for (const auto& [begin, count] : kept.buckets) {
            CHECK(count > 0);
            sum += count;
            again.add(begin, count);
        }
        CHECK(sum == totals[0]);
        CHECK(again.buckets() == kept.buckets);
        if (sum == 0) return;
        const auto index_of = [](Nanoseconds time) { return TimeHistogram::index_of(time); };
        CHECK(index_of(kept.buckets.front().begin) == index_of(totals[5]));
        CHECK(index_of(kept.buckets.back().begin) == index_of(totals[6]));
        for (const std::int64_t time : kept.values.front()) again.add(time, -1);
        for (const auto& [begin, count] : again.buckets()) CHECK(count > 0);
        if (kept.lost == 0) CHECK(again.buckets().empty());
    }

    Rig rig;
    DurationLoop durations{job(), rig.clock, rig.deadline};
};

std::int64_t due(const EchoSettings& settings) {
    return kTrips * std::ssize(settings.servers);
}

// Where a flag tells of a message: behind it where the provider orders writes, or after its delivery.
enum class Flags { as_ordered, after_delivery };

template <class Mode, class Pace = AtOnce>
void check_all(const char* mode, std::vector<EchoSettings> all = {halves(), ring()},
               Flags flags = Flags::as_ordered) {
    Echoes echoes(mode);
    const Offer& offer = echoes.rig.channel.domain().offer();
    const bool waits = flags == Flags::after_delivery;
    const Bytes most_injected = waits ? 0 : offer.inject_size();
    const Bytes ordered = waits ? 0 : offer.ordered_write();
    for (EchoSettings settings : all)
        for (const int outstanding : {1, 8})
            for (const Bytes request : {Bytes{0}, Bytes{30}, kMessage})
                for (const Bytes answer : {Bytes{0}, Bytes{7}, Bytes{100}, kMessage}) {
                    CAPTURE(outstanding);
                    CAPTURE(request);
                    CAPTURE(answer);
                    settings.outstanding = outstanding;
                    settings.request_size = request;
                    settings.most = kTrips;
                    settings.ordered_write = ordered;
                    settings.injects_requests = request <= most_injected && answer % 2 == 0;
                    settings.injects_answers = answer <= most_injected && request % 2 == 0;
                    CHECK(echoes.run<Mode, Pace>(settings, answer, kLong, 1000) == due(settings));
                }
}

} // namespace

TEST_CASE("every request has its answer, whatever the sizes and however many are under way; point after point") {
    check_all<Tagged>("tagged");
    check_all<Msg>("msg");
}

TEST_CASE("so it has where messages are written, or fetched") {
    check_all<WriteImm, AtOnceAtBothEnds>("write-imm", {ring()});
    check_all<Read, AtOnceAtBothEnds>("read", {ring()});
    check_all<Write, AtOnceAtBothEnds>("write", {ring()});
    check_all<Write, AtOnceAtBothEnds>("write", {ring()}, Flags::after_delivery);
}

TEST_CASE("a written message lies in the place of its own among those of several clients and servers") {
    Echoes written("write-imm");
    Echoes told("write");
    Echoes fetched("read");
    const Bytes ordered = told.rig.channel.domain().offer().ordered_write();
    for (EchoSettings settings : {many_to_one(), one_to_many(), all_to_all()})
        for (const int outstanding : {1, 5}) {
            settings.outstanding = outstanding;
            settings.request_size = 30;
            settings.most = kTrips;
            settings.ordered_write = ordered;
            CHECK(written.run<WriteImm, AtOnceAtBothEnds>(settings, 100, kLong, 1000) == due(settings));
            CHECK(told.run<Write, AtOnceAtBothEnds>(settings, 7, kLong, 10) == due(settings));
            CHECK(fetched.run<Read, AtOnceAtBothEnds>(settings, kMessage, kLong, 1000) == due(settings));
            settings.most = -1; // some have no answer at the end
            const Duration brief{.length = 20'000'000, .tick = 10'000'000};
            CHECK(written.run<WriteImm, AtOnceAtBothEnds>(settings, 0, brief, 300) >= 0);
            CHECK(told.run<Write, AtOnceAtBothEnds>(settings, 100, brief, 300) >= 0);
            CHECK(fetched.run<Read, AtOnceAtBothEnds>(settings, 100, brief, 300) >= 0);
        }
}

TEST_CASE("a server may have several clients, and a client several servers") {
    Echoes tagged("tagged");
    Echoes msg("msg");
    for (EchoSettings settings : {many_to_one(), one_to_many(), all_to_all()})
        for (const int outstanding : {1, 5}) {
            settings.outstanding = outstanding;
            settings.request_size = 30;
            settings.most = kTrips;
            CHECK(tagged.run<Tagged>(settings, 7, kLong, 1000) == due(settings));
            CHECK(msg.run<Msg>(settings, 0, kLong, 10) == due(settings));
        }
}

TEST_CASE("round trips for which there is no room are counted, and the totals are of all") {
    Echoes echoes("tagged");
    EchoSettings settings = halves();
    settings.outstanding = 4;
    settings.request_size = 30;
    settings.most = kTrips;
    CHECK(echoes.run<Tagged>(settings, kMessage, kLong, 3) == due(settings));
}

TEST_CASE("what servers have seen is told to their clients, of each round trip that is kept") {
    Echoes tagged("tagged");
    Echoes msg("msg");
    for (EchoSettings settings : {halves(), ring(), many_to_one(), one_to_many(), all_to_all()})
        for (const int outstanding : {1, 5}) {
            settings.outstanding = outstanding;
            settings.request_size = 30;
            settings.most = kTrips;
            CHECK(tagged.run<Tagged, AtOnceAtBothEnds>(settings, 7, kLong, 1000) == due(settings));
            CHECK(msg.run<Msg, AtOnceAtBothEnds>(settings, 0, kLong, 10) == due(settings));
            settings.most = -1; // some have no answer at the end
            CHECK(msg.run<Msg, AtOnceAtBothEnds>(settings, 7, {.length = 20'000'000, .tick = 10'000'000}, 300) >=
                  0);
        }
}

namespace {

// Looks, whenever it may have moved, at what is said of whom it waits for.
template <class Engine>
struct Explained : Engine {
    using Engine::Engine;
    bool advance() {
        const bool has_moved = Engine::advance();
        explain();
        return has_moved;
    }
    bool progress() {
        const bool has_moved = Engine::progress();
        explain();
        return has_moved;
    }
    void explain() {
        const std::string words = this->waiting_for();
        if (words.find("1 of its reads") == std::string::npos) return;
        ++times_told;
        this->see_peers(seen);
        // Its one place has been told of its message: no peer owes one.
        if (words.find(" from ") != std::string::npos) ++wrong_words;
        for (const PeerSeen& peer : seen)
            if (peer.due == "requests" || peer.due == "answers") ++wrong_peers;
        // It is one of those that something is to come of, before its read is posted, too.
        if (std::ranges::all_of(seen, [](const PeerSeen& peer) { return peer.due.empty(); })) ++times_unwatched;
    }
    std::vector<PeerSeen> seen;
    int times_told = 0, wrong_words = 0, wrong_peers = 0, times_unwatched = 0;
};

} // namespace

TEST_CASE("whose message is there to be read is not waited for") {
    Echoes fetched("read");
    EchoSettings settings = halves();
    settings.request_size = 30;
    settings.most = kTrips;
    settings.op = fetched.rig.loop.next_op();
    for (int op = 1; op < echo_ops(settings.outstanding); ++op) (void)fetched.rig.loop.next_op();
    Explained<EchoEngine<Read, AtOnceAtBothEnds>> echo(job(), fetched.rig.channel, kMessage, settings);
    echo.reserve(kTrips);
    TickSamples samples(echo.kCounters);
    fetched.durations.run(echo, kLong, samples);
    // Over shm what is read may be here as soon as its word is seen.
    if (echo.has_peers() && fetched.rig.channel.domain().offer().provider() != "shm") CHECK(echo.times_told > 0);
    CHECK(echo.wrong_words == 0);
    CHECK(echo.wrong_peers == 0);
    CHECK(echo.times_unwatched == 0);
}

// Of those that are under way at its end there may be any number.
TEST_CASE("a duration ends round trips") {
    Echoes echoes("msg");
    EchoSettings settings = ring();
    settings.outstanding = 4;
    settings.request_size = 30;
    CHECK(echoes.run<Msg>(settings, kMessage, {.length = 55'000'000, .tick = 10'000'000}, 1'000'000) >= 0);
}
