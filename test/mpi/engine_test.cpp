// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/engine.hpp"

#include <algorithm>

#include "test/mpi/rig.hpp"
#include "test/mpi/shared_number.hpp"

using namespace a2aperf;
using test::job;
using test::point_of;
using test::Rig;
using test::SharedNumber;

namespace {

// A message goes from rank to rank: each sends its own when that of the rank before it is here.
class Relay final : public Engine {
public:
    Relay(const EngineParts& parts, SharedNumber& arrived)
        : exchange_(find_mode(parts.point.mode).make_engine(parts)), arrived_(arrived) {}

    void prepare(std::uint64_t op) override {
        exchange_->prepare(op);
        CHECK_FALSE(exchange_->has_arrived(before()));
    }
    bool progress() override { return exchange_->progress(); }
    Moments run() override {
        if (!job().is_root()) await(job().rank() - 1);
        const Moments moments = exchange_->run();
        if (job().is_root()) await(job().ranks() - 1);
        return moments;
    }

private:
    static Rank before() { return (job().rank() + job().ranks() - 1) % job().ranks(); }
    // And all ranks before it have theirs, in this op and in those that are over.
    void await(int before_this) {
        while (!exchange_->has_arrived(before())) exchange_->progress();
        CHECK(arrived_.is_at_least(over_ + before_this));
        CHECK_FALSE(arrived_.is_at_least(over_ + before_this + 1));
        arrived_.add();
        over_ += job().ranks();
    }

    std::unique_ptr<Engine> exchange_;
    SharedNumber& arrived_;
    int over_ = 0; // arrivals in ops before
};

} // namespace

TEST_CASE("a rank learns that a message is here before it sends its own") {
    const std::vector<std::string> modes{"tagged", "msg", "write-imm", "write"};
    Rig rig(modes, job().ranks());
    for (const std::string& mode : modes) {
        Point point = point_of(mode);
        point.distance = 1;
        SharedNumber arrived;
        Relay engine(rig.parts(point, 1), arrived);
        OwnSamples samples;
        CHECK(rig.loop.run(engine, 5, samples) == 5);
    }
}

TEST_CASE("of endpoints that have one queue each is given what is its own, in every mode") {
    if (job().ranks() < 3) return; // one of two would be idle
    const std::vector<std::string> modes{"tagged", "msg", "write-imm", "write", "read"};
    Rig rig(modes, job().ranks(), ChannelCounts{.own = 1, .sharing = 2});
    for (const std::string& mode : modes)
        for (const Queues queues : {Queues::each, Queues::one}) {
            Point point = point_of(mode);
            point.queues = queues;
            point.channels = queues == Queues::one ? 2 : 1;
            EngineParts parts = rig.parts(point, 1);
            parts.channels = channels_of(rig.channels.all(), point);
            REQUIRE(parts.channels.size() == static_cast<std::size_t>(point.channels));
            for (const Channel* channel : parts.channels)
                CHECK(channel->endpoint().queue() == parts.channels.front()->endpoint().queue());
            find_mode(mode).verify(parts);
            for (const bool traces : {false, true}) {
                parts.traces = traces;
                const std::unique_ptr<Engine> engine = find_mode(mode).make_engine(parts);
                OwnSamples samples;
                CHECK(rig.loop.run(*engine, 5, samples) == 5);
                const auto arrived = std::ranges::count_if(samples.arrival, [](Nanoseconds at) { return at > 0; });
                CHECK(arrived == (traces ? 5 * (job().ranks() - 1) : 0));
            }
        }
}

TEST_CASE("a thread for each endpoint does what one does for all, in every mode") {
    if (job().ranks() < 3) return; // one of two would be idle
    const std::vector<std::string> modes{"tagged", "msg", "write-imm", "write", "read"};
    Rig rig(modes, job().ranks(), 2);
    for (const std::string& mode : modes)
        for (const Bytes chunk : {Bytes{0}, Bytes{1000}})
            for (const int window : {0, 2})
                for (const bool traces : {false, true}) {
                    Point point = point_of(mode);
                    point.channels = 2;
                    point.threads = Threads::each;
                    point.chunk = chunk;
                    point.window = window;
                    point.post = window == 0 ? Post::before : Post::inside;
                    EngineParts parts = rig.parts(point, 1);
                    parts.traces = traces;
                    const std::unique_ptr<Engine> engine = find_mode(mode).make_engine(parts);
                    OwnSamples samples;
                    CHECK(rig.loop.run(*engine, 20, samples) == 20);
                    CHECK(std::ranges::all_of(samples.receive_done, [](Nanoseconds at) { return at > 0; }));
                    const auto arrived =
                        std::ranges::count_if(samples.arrival, [](Nanoseconds at) { return at > 0; });
                    CHECK(arrived == (traces ? 20 * (job().ranks() - 1) : 0));
                }
}
