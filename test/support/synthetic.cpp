// SPDX-License-Identifier: BSD-3-Clause
#include "synthetic.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "a2aperf/stats/summary.hpp"

namespace a2aperf::test {
namespace {

Point measured_point(Role role, Bytes message_size) {
    Point point;
    point.role = role;
    point.mode = role == Role::baseline ? "collective" : "tagged";
    point.schedule = role == Role::baseline ? nullptr : &find_schedule("shift");
    point.message_size = message_size;
    point.post = Post::inside;
    return point;
}

Samples synthetic_samples(int point, int ranks, int attempts) {
    Samples samples;
    samples.ranks = ranks;
    for (int a = 0; a < attempts; ++a) {
        samples.start.push_back(Nanoseconds{1'000'000} * a);
        samples.valid.push_back(a > 0 && a % 10 == 0 ? 0 : 1);
        for (int r = 0; r < ranks; ++r) {
            const Nanoseconds begin = a + r + point;
            samples.begin.push_back(begin);
            samples.exit.push_back(0);
            samples.send_done.push_back(begin + 1000 + (7 * a + 3 * r) % 101);
            samples.recv_done.push_back(begin + 1000 + (5 * a + 11 * r) % 103);
        }
    }
    return samples;
}

constexpr Nanoseconds kLateLimit = 1000;

// No op is valid.
void make_late(Samples& samples) {
    for (auto* times : {&samples.begin, &samples.send_done, &samples.recv_done, &samples.exit})
        for (Nanoseconds& time : *times) time += 2 * kLateLimit;
    std::fill(samples.valid.begin(), samples.valid.end(), 0);
}

} // namespace

Plan synthetic_plan(int points, Bytes first_size) {
    Plan plan;
    for (int p = 0; p < points; ++p) {
        const bool is_end = p == 0 || p == points - 1;
        const bool is_baseline = !is_end && p % 2 == 0;
        const Role role = is_end ? Role::sentinel : is_baseline ? Role::baseline : Role::measure;
        Point point = measured_point(role, first_size * static_cast<Bytes>((p + 1) / 2 + 1));
        if (role == Role::measure && p + 1 < points - 1) point.partner = p + 1;
        if (role == Role::baseline) point.partner = p - 1;
        if (role == Role::measure && p % 7 == 0) point.skip_reason = "needs 2.1 GB of 1.0 GB, so \"no\"";
        plan.points.push_back(point);
        if (!point.is_skipped() && !is_baseline) plan.order.push_back(p);
    }
    return plan;
}

Provenance synthetic_provenance(const Layout& layout, const std::string& node_prefix) {
    Provenance provenance;
    provenance.text = {{"program_version", "0.1.0"},
                       {"commit", "0123456789ab"},
                       {"sync", "clock"},
                       {"command_line", "a2aperf alltoall --ops 100"},
                       {"slurm_job_id", ""}};
    provenance.integers = {{"seed", 1}, {"warmup", 20}, {"rails", 1}, {"shuffle_ranks", 0}};
    provenance.numbers = {{"link_rate_gbps", 100.0}};
    provenance.time_origin_ns = 1'700'000'000'000'000'000;
    for (int n = 0; n < layout.nodes(); ++n) provenance.nodes.push_back(fmt::format("{}{:03}", node_prefix, n));
    provenance.node_of_rank = layout.node_of_rank();
    for (int r = 0; r < layout.ranks(); ++r) {
        provenance.clock_domain_of_rank.push_back(layout.node_of(r));
        provenance.clock_offset.push_back(10.0 * r);
        provenance.clock_drift.push_back(1e-6 * r);
        provenance.rank_order.push_back(layout.ranks() - 1 - r);
        StartTimes start(0);
        start.end(StartPhase::mpi_init, 1000);
        start.end(StartPhase::memory, 1010 + r);
        provenance.start_times.push_back(start.times());
        provenance.rank_facts["binding"].push_back(fmt::format("{}-{}", r, r + 1));
    }
    provenance.environment = {{"PSM2_RCVTHREAD", "0", true, true}, {"SLURM_PROCID", "0", false, false}};
    provenance.labels = {{"cable", "grün"}};
    provenance.attachments = {{"topology.txt", "two\nlines\n"}};
    provenance.provider_attributes = "fi_info:\n    caps: [ FI_MSG ]\n";
    provenance.node_facts["kernel"].assign(static_cast<std::size_t>(layout.nodes()), "6.1.0");
    provenance.port_names = {"eth0/statistics/rx_bytes", "eth0/statistics/tx_bytes"};
    return provenance;
}

int synthetic_attempts(int point, int most) {
    return 1 + (point * 37 + most - 1) % most;
}

PointResult synthetic_result(int point, const Plan& plan, const Layout& layout, int attempts,
                             const Provenance& provenance, bool has_valid_ops) {
    PointResult result;
    result.samples = synthetic_samples(point, layout.ranks(), attempts);
    if (!has_valid_ops) make_late(result.samples);
    SummaryRules rules;
    rules.has_common_start = true;
    rules.node_link_gbps = 100;
    result.summary =
        summarise(result.samples, layout, plan.points[static_cast<std::size_t>(point)].message_size, rules);
    result.stop_rule = StopRule::ops;
    result.used_inject = point % 2 == 0;
    result.buffer_slots = layout.ranks();
    result.started_ns = 1'700'000'000'000'000'000 + Nanoseconds{1'000'000'000} * point;
    result.duration_ns = Nanoseconds{1'000'000} * (point + 1);
    result.late_limit_ns = kLateLimit;
    result.warmup_p50_ns = 1500;
    result.clock_error_ns = 40 + point;
    for (int r = 0; r < layout.ranks(); ++r) {
        RankCounters counters{};
        counters.voluntary_switches = 100 * point + r;
        counters.involuntary_switches = r;
        counters.user_time_ns = 1000 + r;
        counters.wall_time_ns = 5000 + r;
        counters.threads = 2;
        std::strcpy(counters.thread_affinity, "0-1;0-1");
        result.ranks.push_back(counters);
    }
    for (int n = 0; n < layout.nodes(); ++n) {
        NodeCounters counters;
        counters.interrupts = 50 + n;
        counters.net_rx = 300 + n;
        counters.net_tx = 30 + n;
        counters.system_time_ns = 400 + n;
        counters.idle_time_ns = 4000 + n;
        counters.wall_time_ns = 6000 + n;
        for (std::size_t c = 0; c < provenance.port_names.size(); ++c)
            counters.ports.push_back(1000 * point + 10 * n + static_cast<int>(c));
        result.nodes.push_back(counters);
    }
    result.verification = {result.ranks, result.nodes};
    for (RankCounters& rank : result.verification.ranks) rank.voluntary_switches += 7;
    for (NodeCounters& node : result.verification.nodes) {
        node.net_tx += 7;
        node.idle_time_ns += 7;
        for (std::int64_t& port : node.ports) port += 7;
    }
    result.before = {result.ranks, result.nodes};
    for (RankCounters& rank : result.before.ranks) {
        rank.voluntary_switches = 5'000;
        rank.resident_memory = 1 << 20;
        rank.cpu_frequency_khz = 2'100'000;
    }
    for (NodeCounters& node : result.before.nodes) {
        node.net_tx = 9'000;
        for (std::int64_t& port : node.ports) port += 1'000'000;
    }
    result.after = result.before;
    for (std::size_t r = 0; r < result.after.ranks.size(); ++r) { // at least by what was counted
        RankCounters& rank = result.after.ranks[r];
        rank.voluntary_switches = 5'060 + result.ranks[r].voluntary_switches;
        rank.involuntary_switches += result.ranks[r].involuntary_switches;
        rank.user_time_ns += result.ranks[r].user_time_ns;
        rank.cpu_frequency_khz = 3'700'000;
    }
    for (NodeCounters& node : result.after.nodes)
        for (std::int64_t& port : node.ports) port += 2'000;
    return result;
}

} // namespace a2aperf::test
