// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/memory_budget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/echo_plan.hpp"
#include "points.hpp"

using namespace a2aperf;

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

TEST_CASE("what runs for a duration needs no place for each peer, whatever its mode") {
    const std::vector<Bytes> sizes{1000};
    const MemoryBudget budget = budget_of(40'000, 1, sizes); // of 19 messages in each buffer
    for (const char* mode : {"tagged", "write-imm", "write", "read"}) {
        CAPTURE(mode);
        Point stream = stream_of(3, {{0, 1}}, 1000);
        stream.mode = mode;
        CHECK_FALSE(memory_skip_reason(stream, budget, 320));
        Point echo = point_of(mode, 1000);
        EchoPlan trips;
        trips.who = {{0, 1}};
        trips.request_size = 30;
        echo.flow = std::make_shared<EchoPlan>(trips);
        CHECK_FALSE(memory_skip_reason(echo, budget, 320));
        CHECK(memory_skip_reason(echo, budget_of(2900, 1, sizes), 320)); // it is verified by one message
    }
    CHECK(memory_skip_reason(point_of("write", 1000), budget, 320));
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
