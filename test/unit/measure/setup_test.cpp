// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/setup.hpp"

#include <rdma/fi_endpoint.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/measure/stream_trouble.hpp"
#include "a2aperf/plan/stream_plan.hpp"

using namespace a2aperf;

namespace {

Point point_of(const char* mode, Bytes size) {
    Point point;
    point.mode = mode;
    point.schedule = &find_schedule("shift");
    point.message_size = size;
    return point;
}

Layout pair_of_ranks() {
    return Layout::blocks(2, 2);
}

} // namespace

TEST_CASE("a node's memory is shared by its ranks, their two buffers and a message that should not come") {
    const std::vector<Bytes> sizes{8, 500, 5000};
    const MemoryBudget budget = budget_of(8000, 4, sizes);
    CHECK(budget.largest == 666);    // three times
    CHECK(budget.per_buffer == 750); // beside 500, the largest that can be measured
}

TEST_CASE("kinds of memory that are held at once share it") {
    const std::vector<Bytes> sizes{8, 500};
    const MemoryBudget budget = budget_of(16'000, 4, sizes, 2);
    CHECK(budget.largest == 666);
    CHECK(budget.per_buffer == 750);
    const MemoryKind* const kinds[] = {&memory_kinds()[0], &memory_kinds()[1]};
    CHECK(memory_of_node(kinds).total == std::min(kinds[0]->of_node().total, kinds[1]->of_node().total));
}

TEST_CASE("samples on rank 0 come out of the limit, which is refused where they alone do not fit") {
    CHECK(beside_samples(1000, 0) == 1000);
    CHECK(beside_samples(1000, 999) == 1);
    CHECK_THROWS_WITH_AS(beside_samples(1000, 1000),
                         "the samples of one point can take 1 kB on rank 0, and --memory-limit leaves 1 kB: keep "
                         "fewer (--max-samples)",
                         UsageError);
}

TEST_CASE("tagged needs one message of space, write-imm and MPI one of every rank") {
    const std::vector<Bytes> sizes{1000, 250};
    const MemoryBudget budget = budget_of(12'000, 4, sizes);
    CHECK_FALSE(memory_skip_reason(point_of("tagged", 1000), budget, 4));
    CHECK(memory_skip_reason(point_of("tagged", 1001), budget, 4));
    CHECK_FALSE(memory_skip_reason(point_of("write-imm", 250), budget, 4));
    const auto reason = memory_skip_reason(point_of("write-imm", 251), budget, 4);
    REQUIRE(reason.has_value());
    CHECK(reason->find("--memory-limit") != std::string::npos);
    Point baseline = point_of("collective", 251);
    baseline.role = Role::baseline;
    CHECK(memory_skip_reason(baseline, budget, 4));
}

TEST_CASE("buffers hold the largest message that is measured, of all ranks, within the budget") {
    Plan plan;
    plan.points = {point_of("tagged", 100), point_of("tagged", 300), point_of("tagged", 9000)};
    plan.points.back().skip_reason = "too large";
    const std::vector<Bytes> sizes{100, 300, 9000};
    CHECK(largest_message(plan) == 300);
    CHECK(buffer_bytes(plan, budget_of(1'000'000, 1, sizes), 4) == 1200);
    CHECK(buffer_bytes(plan, budget_of(2000, 1, sizes), 4) == 850);
}

TEST_CASE("without a limit messages that may share places take 2 GiB a node, the others what they need") {
    constexpr int kRanks = 320;
    constexpr Bytes kNode = Bytes{64} << 30;
    const std::vector<Bytes> sizes{8, 1'000'000};
    const MemoryBudget on_one_node = usual_budget(kNode, kRanks, sizes);
    const auto taken = [&](const char* mode, const MemoryBudget& budget) {
        Plan plan;
        plan.points = {point_of(mode, 8), point_of(mode, 1'000'000)};
        return kRanks * (2 * buffer_bytes(plan, budget, kRanks) + largest_message(plan));
    };
    CHECK(taken("tagged", on_one_node) <= Bytes{2} << 30);
    CHECK(taken("tagged", on_one_node) > Bytes{1} << 30);
    CHECK(taken("tagged", budget_of(kNode, kRanks, sizes)) > Bytes{32} << 30);
    // A place for each peer, or none: it is not skipped for what is only usual.
    const std::vector<Bytes> small{60'000};
    const MemoryBudget of_small = usual_budget(kNode, kRanks, small);
    CHECK_FALSE(memory_skip_reason(point_of("write-imm", 60'000), of_small, kRanks));
    Plan written;
    written.points = {point_of("write-imm", 60'000)};
    CHECK(buffer_bytes(written, of_small, kRanks) == Bytes{60'000} * kRanks);
    CHECK(usual_sharing(written, of_small, kRanks).empty());
    // One message larger than its share has its place all the same.
    Plan large;
    large.points = {point_of("tagged", 30'000'000)};
    const std::vector<Bytes> of_large{30'000'000};
    CHECK(buffer_bytes(large, usual_budget(kNode, kRanks, of_large), kRanks) == 30'000'000);
}

TEST_CASE("that places are shared for want of a limit is said, and only then") {
    const std::vector<Bytes> sizes{60'000};
    Plan plan;
    plan.points = {point_of("tagged", 60'000)};
    const MemoryBudget crowded = usual_budget(Bytes{64} << 30, 320, sizes);
    CHECK(
        usual_sharing(plan, crowded, 320) ==
        "the 319 messages of 60000 B that a rank has at a time share 55 places, as no --memory-limit says how much "
        "memory a node may use");
    // Two ranks have one message each at a time, however large it is.
    const std::vector<Bytes> of_large{512 << 20};
    Plan large;
    large.points = {point_of("tagged", 512 << 20)};
    CHECK(usual_sharing(large, usual_budget(Bytes{16} << 30, 2, of_large), 2).empty());
    CHECK(usual_sharing(plan, usual_budget(Bytes{64} << 30, 4, sizes), 320).empty());
    CHECK(usual_sharing(plan, budget_of(Bytes{2} << 30, 320, sizes), 320).empty());
    CHECK(usual_sharing(plan, usual_budget(Bytes{1} << 30, 320, sizes), 320).empty()); // less is free
}

TEST_CASE("no launch takes more memory than the limit, whatever sizes, modes and ranks") {
    for (const Bytes limit : {1000, 12'345, 1'000'000})
        for (const int ranks : {2, 3, 7, 64})
            for (const char* mode : {"tagged", "write-imm"}) {
                const std::vector<Bytes> sizes{1, 8, 400, 4096, 60'000, 333'333, 499'999};
                const MemoryBudget budget = budget_of(limit, 1, sizes);
                Plan plan;
                for (const Bytes size : sizes) {
                    plan.points.push_back(point_of(mode, size));
                    plan.points.back().skip_reason =
                        memory_skip_reason(plan.points.back(), budget, ranks).value_or("");
                }
                CAPTURE(limit);
                CAPTURE(ranks);
                const Bytes taken = 2 * buffer_bytes(plan, budget, ranks) + largest_message(plan);
                CHECK(taken <= limit);
            }
}

TEST_CASE("a baseline over another network is called that") {
    const auto with = [](const char* pml, const char* btl, const char* provider, bool spans_hosts) {
        setenv("OMPI_MCA_pml", pml, 1);
        setenv("OMPI_MCA_btl", btl, 1);
        return baseline_transport(provider, spans_hosts);
    };
    CHECK(with("ob1", "self,vader,tcp", "shm", false).find("different network") == std::string::npos);
    CHECK(with("ob1", "self,vader,tcp", "tcp;ofi_rxm", false).find("different network") != std::string::npos);
    CHECK(with("ob1", "self,tcp", "tcp;ofi_rxm", true).find("different network") == std::string::npos);
    CHECK(with("ob1", "self,tcp", "psm2", true).find("a different network from psm2's Omni-Path") !=
          std::string::npos);
    CHECK(with("ob1", "^openib", "tcp", true).find("own choice") != std::string::npos);
    setenv("OMPI_MCA_mtl_ofi_provider_include", "tcp;ofi_rxm", 1);
    CHECK(with("cm", "", "tcp", true).starts_with("TCP ("));
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl_ofi_provider_include"}) unsetenv(name);
}

TEST_CASE("MPI keeps off libfabric only where it was told so") {
    const auto with = [](const char* pml, const char* btl) {
        setenv("OMPI_MCA_pml", pml, 1);
        setenv("OMPI_MCA_btl", btl, 1);
        return mpi_uses_libfabric();
    };
    CHECK_FALSE(with("ob1", "self,vader,tcp"));
    CHECK(with("ob1", ""));
    CHECK(with("ob1", "self,ofi"));
    CHECK(with("cm", "self,tcp"));
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl"}) unsetenv(name);
}

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

namespace {

Point stream_of(int window, std::vector<StreamPair> who, Bytes size = 8) {
    Point point = point_of("tagged", size);
    StreamPlan stream;
    stream.who = std::move(who);
    point.window = window;
    point.flow = std::make_shared<StreamPlan>(stream);
    return point;
}

} // namespace

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

TEST_CASE("a stream needs memory for its window, and its verification no more than that of another point") {
    const std::vector<Bytes> sizes{1000};
    const MemoryBudget budget = budget_of(60'000, 1, sizes); // of 28 messages, or 27 and a credit, in each buffer
    CHECK_FALSE(memory_skip_reason(stream_of(27, {{0, 1}}, 1000), budget, 320));
    CHECK(memory_skip_reason(stream_of(28, {{0, 1}}, 1000), budget, 320)
              .value_or("")
              .starts_with("28 messages and the credits need 2"));
    const MemoryBudget little = budget_of(30'000, 1, sizes);
    CHECK(
        memory_skip_reason(stream_of(1, {{0, 1}}, 1000), little, 2).value_or("").starts_with("1 message and the "));
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

ProviderChoice adapter(std::size_t receives, std::size_t endpoints) {
    InfoPtr info(fi_allocinfo());
    info->fabric_attr->prov_name = strdup("shm");
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
        return fabric_skip_reason(point, adapter(100, endpoints), Layout::blocks(ranks, ranks))
            .value_or("measured");
    };
    point.channels = 2;
    CHECK(reason(3) == "measured");
    CHECK(reason(3, 6) == "measured");
    CHECK(reason(3, 5) == "3 ranks on a node with 2 endpoints each need more than the 5 that card has");
    point.channels = 1;
    CHECK(reason(3, 2) == "measured");
}

TEST_CASE("endpoints that are dealt over adapters count on the one with the most of them") {
    Point point = point_of("write-imm", 1000);
    const auto reason = [&](int channels, std::size_t endpoints) {
        point.channels = channels;
        ProviderChoice choice = adapter(100, endpoints);
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
