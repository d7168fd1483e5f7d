// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/setup.hpp"

#include <rdma/fi_endpoint.h>

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/measure/stream_trouble.hpp"
#include "points.hpp"

using namespace a2aperf;

namespace {

Layout pair_of_ranks() {
    return Layout::blocks(2, 2);
}

} // namespace

TEST_CASE("a write whose flag could come before it is skipped, with the reason") {
    const auto why = [](const char* provider, std::uint64_t order, Bytes ordered, const char* mode, Bytes size) {
        InfoPtr info(fi_allocinfo());
        info->fabric_attr->prov_name = strdup(provider);
        info->ep_attr->max_msg_size = 1 << 30;
        info->ep_attr->max_order_waw_size = ordered;
        info->tx_attr->msg_order = info->rx_attr->msg_order = order;
        const ProviderChoice choice{Offer(std::move(info)), {}, {}, {}, {}, {}, {}};
        return fabric_skip_reason(point_of(mode, size), choice, pair_of_ranks()).value_or("measured");
    };
    CHECK(why("opx", FI_ORDER_WAW, 4096, "write", 4096) == "measured");
    CHECK(
        why("opx", FI_ORDER_WAW, 4096, "write", 4097) ==
        "opx orders writes of up to 4096 B only, and is not known to tell when a write is delivered: a flag could "
        "come before its message");
    CHECK(why("opx", FI_ORDER_SAS, 4096, "write", 1) ==
          "opx orders no writes, and is not known to tell when a write is delivered: a flag could come before its "
          "message");
    CHECK(why("opx", FI_ORDER_SAS, 4096, "write-imm", 5000) == "measured");
    CHECK(why("psm2", FI_ORDER_WAW, 4096, "write", 4097) == "measured"); // the flag waits for the delivery
}

TEST_CASE("a stream with more receives than the provider has room for is skipped, with the reason") {
    const auto why = [](const char* provider, const Point& point) {
        InfoPtr info(fi_allocinfo());
        info->fabric_attr->prov_name = strdup(provider);
        info->ep_attr->max_msg_size = 1 << 30;
        info->rx_attr->size = 100;
        const ProviderChoice choice{Offer(std::move(info)), {}, {}, {}, {}, {}, {}};
        return fabric_skip_reason(point, choice, pair_of_ranks()).value_or("measured");
    };
    CHECK(why("shm", stream_of(100, {{0, 1}, {2, 3}})) == "measured");
    CHECK(why("shm", stream_of(101, {{0, 1}})) ==
          "101 receives are posted at a time, of messages and credits, and shm has room for 100");
    CHECK(why("shm", stream_of(84, {{0, 1}, {1, 0}})) == "measured");
    CHECK(why("shm", stream_of(85, {{0, 1}, {1, 2}})) ==
          "101 receives are posted at a time, of messages and credits, and shm has room for 100");
    CHECK(why("shm", stream_of(34, {{1, 0}, {2, 0}, {3, 0}})) ==
          "102 receives are posted at a time, of messages and credits, and shm has room for 100");
    CHECK(why("net", stream_of(1000, {{0, 1}})) == "measured");
    for (const char* mode : {"write-imm", "write", "read"}) { // nothing waits in the receive queue
        Point written = stream_of(1000, {{0, 1}}, 0);
        written.mode = mode;
        CHECK(why("shm", written) == "measured");
    }
}

TEST_CASE("a stream by writes with data is skipped where they take receives, or can't name all buffers") {
    const auto why = [](std::uint64_t mode, int window) {
        InfoPtr info(fi_allocinfo());
        info->fabric_attr->prov_name = strdup("efa");
        info->ep_attr->max_msg_size = 1 << 30;
        info->rx_attr->mode = mode;
        Point point = stream_of(window, {{0, 1}, {2, 1}}, 0);
        point.mode = "write-imm";
        return stream_trouble(Offer(std::move(info)), point).value_or("measured");
    };
    CHECK(why(0, 1 << 23) == "measured");
    CHECK(why(0, (1 << 23) + 1) == "the data of a write name one of 16777216 buffers, and a rank has 16777218");
    CHECK(why(FI_RX_CQ_DATA, 1) ==
          "each write that carries data takes a posted receive of efa, and a stream has none");
}

TEST_CASE("round trips by writes with data are skipped where they take receives") {
    const auto why = [](std::uint64_t mode, const char* of_messages) {
        InfoPtr info(fi_allocinfo());
        info->fabric_attr->prov_name = strdup("efa");
        info->rx_attr->mode = mode;
        return echo_trouble(Offer(std::move(info)), point_of(of_messages, 8)).value_or("measured");
    };
    CHECK(why(0, "write-imm") == "measured");
    CHECK(why(FI_RX_CQ_DATA, "write-imm") ==
          "each write that carries data takes a posted receive of efa, and a round trip has none");
    for (const char* mode : {"tagged", "msg", "read", "write"}) CHECK(why(FI_RX_CQ_DATA, mode) == "measured");
}

TEST_CASE("peers write a word of each rank, and in streams one of each buffer and those of credits") {
    Plan plan;
    plan.points = {stream_of(40, {{0, 1}}), point_of("write-imm", 8), Point()};
    plan.points.back().role = Role::baseline;
    CHECK(flag_words(plan, 3) == 0);
    plan.points.push_back(point_of("write", 8));
    CHECK(flag_words(plan, 3) == 3);
    plan.points.push_back(stream_of(40, {{0, 1}, {2, 1}}));
    plan.points.back().mode = "write-imm";
    CHECK(flag_words(plan, 3) == 3 + 3 * kStreamCredits + 80);
    plan.points.back().mode = "read";
    CHECK(flag_words(plan, 3) == 3 + 3 * kStreamCredits + 80);
    plan.points.back().skip_reason = "no";
    CHECK(flag_words(plan, 3) == 3);
}

TEST_CASE("the completion queue holds what the largest stream has under way") {
    Plan plan;
    plan.points = {stream_of(40, {{0, 1}}), stream_of(500, {{0, 1}, {1, 0}}), stream_of(9000, {{0, 1}})};
    plan.points.back().skip_reason = "too many";
    CHECK(queue_entries(plan, 2) == 500 + 500 + kStreamCredits);
    plan.points = {stream_of(40, {{0, 1}, {0, 2}, {0, 3}})};
    CHECK(queue_entries(plan, 2) == 3 * kStreamCredits + 40 + 3 * 40 - 40);
    plan.points = {point_of("tagged", 8)};
    CHECK(queue_entries(plan, 2) == 0);
}

namespace {

ProviderChoice adapter(std::size_t receives, std::size_t endpoints, const char* provider = "shm") {
    InfoPtr info(fi_allocinfo());
    info->fabric_attr->prov_name = strdup(provider);
    info->domain_attr->name = strdup("card");
    info->ep_attr->max_msg_size = 1 << 30;
    info->rx_attr->size = receives;
    info->domain_attr->ep_cnt = endpoints;
    return {Offer(std::move(info)), {}, {}, {}, {}, {}, {}};
}

} // namespace

TEST_CASE("endpoints that the adapter has not got are skipped with the reason") {
    Point point = point_of("write-imm", 1000);
    const auto reason = [&](int ranks, std::size_t endpoints = 0) {
        return fabric_skip_reason(point, adapter(100, endpoints, "verbs"), Layout::blocks(ranks, ranks))
            .value_or("measured");
    };
    point.channels = 2;
    CHECK(reason(3) == "measured");
    CHECK(reason(3, 6) == "measured");
    CHECK(reason(3, 5) == "3 ranks on a node with 2 endpoints each need more than the 5 that card has");
    point.channels = 1;
    CHECK(reason(3, 2) == "measured");
}

TEST_CASE("where each process has a card of its own, other ranks take none of its endpoints") {
    Point point = point_of("write-imm", 1000);
    point.channels = 2;
    const auto reason = [&](std::size_t endpoints) {
        return fabric_skip_reason(point, adapter(100, endpoints), Layout::blocks(300, 300)).value_or("measured");
    };
    CHECK(reason(2) == "measured");
    CHECK(reason(1) == "2 endpoints of a rank are more than the 1 that shm has for a process");
}

TEST_CASE("the paths of a duration are endpoints of one adapter") {
    Point point = stream_of(8, {{0, 1}});
    point.channels = 4;
    ProviderChoice choice = adapter(1000, 6, "verbs");
    for (int i = 0; i < 2; ++i) choice.adapters.emplace_back(choice.offer);
    const auto reason = [&](int ranks) {
        return fabric_skip_reason(point, choice, Layout::blocks(ranks, ranks)).value_or("measured");
    };
    CHECK(reason(2) == "measured");
    CHECK(reason(3) == "3 ranks on a node with 4 endpoints each on 2 adapters need more than the 6 that card has");
}

TEST_CASE("endpoints that are dealt over adapters count on the one with the most of them") {
    Point point = point_of("write-imm", 1000);
    const auto reason = [&](int channels, std::size_t endpoints) {
        point.channels = channels;
        ProviderChoice choice = adapter(100, endpoints, "verbs");
        for (int i = 0; i < 2; ++i) choice.adapters.emplace_back(choice.offer);
        return fabric_skip_reason(point, choice, Layout::blocks(4, 4)).value_or("measured");
    };
    CHECK(reason(2, 4) == "measured");
    CHECK(reason(2, 3) ==
          "4 ranks on a node with 2 endpoints each on 2 adapters need more than the 3 that card has");
    CHECK(reason(3, 8) == "measured"); // two of a rank's three are on the first
    CHECK(reason(3, 7) != "measured");
}

TEST_CASE("endpoints that cannot have one queue are skipped with the reason, others are not") {
    ProviderChoice choice = adapter(100, 0);
    choice.one_queue_trouble = "rank 0: it has none";
    Point point = point_of("tagged", 1000);
    point.channels = 2;
    const auto reason = [&] {
        return fabric_skip_reason(point, choice, Layout::blocks(3, 3)).value_or("measured");
    };
    CHECK(reason() == "measured");
    point.queues = Queues::one;
    CHECK(reason() == "rank 0: it has none");
    choice.one_queue_trouble.clear();
    CHECK(reason() == "measured");
}

TEST_CASE("channels with one queue are opened beside those with a queue each") {
    Plan plan;
    CHECK(channel_counts(plan).own == 1);
    const auto add = [&](int channels, Queues queues) -> Point& {
        plan.points.push_back(point_of("tagged", 8));
        plan.points.back().channels = channels;
        plan.points.back().queues = queues;
        return plan.points.back();
    };
    add(2, Queues::one);
    add(1, Queues::each).role = Role::baseline; // over those of its partner
    add(4, Queues::one).skip_reason = "too many";
    CHECK(channel_counts(plan).own == 0);
    CHECK(channel_counts(plan).sharing == 2);
    add(3, Queues::each);
    CHECK(channel_counts(plan).own == 3);
    CHECK(most_channels(plan) == 5);
}

TEST_CASE("of the threads of a rank the most that poll in a point are counted") {
    Plan plan;
    CHECK(most_threads(plan) == 1);
    plan.points.push_back(point_of("tagged", 8));
    plan.points.back().channels = 3;
    CHECK(most_threads(plan) == 1);
    plan.points.back().threads = Threads::each;
    CHECK(most_threads(plan) == 3);
    plan.points.back().skip_reason = "too many";
    CHECK(most_threads(plan) == 1);
}

TEST_CASE("more chunks than find room in a queue are skipped with the reason") {
    const auto reason = [](const char* mode, Bytes chunk) {
        Point point = point_of(mode, 1'000'000);
        point.chunk = chunk;
        return fabric_skip_reason(point, adapter(100, 0), pair_of_ranks()).value_or("measured");
    };
    CHECK(reason("msg", 10'102) == "measured"); // 99, and one for what strays
    CHECK(reason("msg", 10'000) == "101 receives are posted to verify it, and shm has room for 100");
    CHECK(reason("write-imm", 9'999) == "measured");
    CHECK(reason("read", 9'999) == "measured");
    CHECK(reason("msg", 1'000'000) == "measured"); // not cut
}

TEST_CASE("whole messages of more ranks than find room in a queue are skipped with the reason") {
    const auto reason = [](const char* mode, int ranks) {
        return fabric_skip_reason(point_of(mode, 8), adapter(100, 0), Layout::blocks(ranks, ranks))
            .value_or("measured");
    };
    CHECK(reason("msg", 100) == "measured"); // 99, and one for what strays
    CHECK(reason("msg", 101) == "101 receives are posted to verify it, and shm has room for 100");
    CHECK(reason("write-imm", 101) == "measured");
}

TEST_CASE("of fewer that send to a rank fewer receives are posted") {
    Point point = point_of("msg", 8);
    const auto reason = [&] {
        return fabric_skip_reason(point, adapter(10, 0), Layout::blocks(40, 40)).value_or("measured");
    };
    CHECK(reason() == "40 receives are posted to verify it, and shm has room for 10");
    point.distance = 1; // of pairs
    CHECK(reason() == "measured");
}

TEST_CASE("queues and flags have room for all chunks of an op") {
    Plan plan;
    Point point = point_of("write", 10'000);
    point.chunk = 1000;
    plan.points.push_back(point);
    CHECK(queue_entries(plan, 3) == 60);
    CHECK(flag_words(plan, 3) == 30);
    plan.points.front().chunk = 10'000;
    CHECK(queue_entries(plan, 3) == 0);
    CHECK(flag_words(plan, 3) == 3);
}
