// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/option_table.hpp"

#include <fmt/format.h>

#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/config/workload_row.hpp"
#include "a2aperf/plan/size_list.hpp"

namespace a2aperf {
namespace {

using Values = std::span<const std::string>;

constexpr int kMostOps = 10'000'000;

constexpr OptionRow kRows[] = {
    // where
    {.name = "provider",
     .value = "NAME",
     .section = Section::where,
     .audience = Audience::daily,
     .example = "tcp",
     .help = "libfabric provider: auto (the best that all ranks can use), {providers}. Layered names match: tcp "
             "finds tcp;ofi_rxm",
     .set = [](Options& o, Values v, const Catalogue& c) { o.provider = parse_provider(v[0], c); }},
    {.name = "nic",
     .alias = "--domain",
     .value = "WHICH",
     .section = Section::where,
     .example = "nearest",
     .help =
         "nearest (by NUMA distance), a device such as mlx5_0, one of its ports: mlx5_0/2, one for each rank of "
         "a node: 0:mlx5_0,1:mlx5_1, or several that the ranks of a node, or their endpoints, take in turn: "
         "mlx5_0,mlx5_1, or all",
     .set = [](Options& o, Values v, const Catalogue&) { o.nic = parse_nic(v[0]); }},
    {.name = "link-rate",
     .value = "RATE",
     .section = Section::where,
     .example = "100Gbit/s",
     .help = "what each adapter in use carries one way, where the system tells no rate or not the true one: 100 "
             "(Gbit/s), "
             "200Mbit/s; efficiency and bounds follow from it (default: as the system tells)",
     .set = [](Options& o, Values v, const Catalogue&) { o.link_rate = parse_gbps(v[0]); }},

    // what
    {.name = "sizes",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .exclusive = "sizes",
     .example = "1KiB..4MiB*2",
     .help = "message sizes in bytes, per pair of ranks: 8KiB, 1000..15000+1000, 1KiB..4MiB*2, or several of these "
             "with commas (default: {sizes})",
     .set = [](Options& o, Values v,
               const Catalogue&) { o.sizes = parse_sizes(fmt::format("{}", fmt::join(v, ",")), o.least_size); }},
    {.name = "message-size",
     .alias = "-m",
     .value = "MIN:MAX",
     .section = Section::what,
     .exclusive = "sizes",
     .example = "1:4096",
     .help = "powers of two from MIN to MAX, as in the OSU benchmarks",
     .set = [](Options& o, Values v, const Catalogue&) { o.sizes = parse_osu_sizes(v[0]); }},
    {.name = "mode",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "tagged,write-imm",
     .help = "how a message is transferred: {modes} (default: tagged)",
     .set = [](Options& o, Values v, const Catalogue& c) { o.modes = parse_modes(v, c); }},
    {.name = "schedule",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .serves = Serves::some,
     .example = "shift,naive",
     .help = "order in which a rank sends to its peers: {schedules} (default: shift; formulas: --list)",
     .set = [](Options& o, Values v, const Catalogue&) { o.schedules = parse_schedules(v); }},
    {.name = "window",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .serves = Serves::some,
     .example = "1,8,256KiB,all",
     .help = "outstanding sends or reads per rank; of alltoall also all (its default), or a size such as 256KiB: "
             "as many "
             "messages as fit it, at least one",
     .set = [](Options& o, Values v, const Catalogue&) { o.windows = parse_windows(v); }},
    {.name = "order",
     .value = "ORDER",
     .section = Section::what,
     .example = "shuffled",
     .help = "order in which the points are measured: declared or shuffled (default: declared)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.order = choose<Order>("order", v[0], {{"declared", Order::declared}, {"shuffled", Order::shuffled}});
         }},
    {.name = "seed",
     .value = "N",
     .section = Section::what,
     .example = "1",
     .help = "random seed: payloads, drawn traffic, poisson arrivals, shuffled orders, sampled steps, the "
             "schedules random "
             "and permutation (default: 1)",
     .set = [](Options& o, Values v, const Catalogue&) { o.seed = parse_seed(v[0]); }},
    {.name = "shuffle-ranks",
     .section = Section::what,
     .arity = Arity::flag,
     .help =
         "number the ranks in a random order, so that neighbours in the schedule are not neighbours in the network",
     .set = [](Options& o, Values, const Catalogue&) { o.shuffle_ranks = true; }},
    {.name = "baseline",
     .value = "WHICH",
     .section = Section::what,
     .audience = Audience::daily,
     .serves = Serves::some,
     .example = "mpi",
     .help = "mpi: also measure MPI_Alltoall on the same ranks and sizes, in alternating blocks of ops, and show "
             "the ratio (default: none)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.with_mpi_baseline = choose<bool>("baseline", v[0], {{"none", false}, {"mpi", true}});
         }},

    // how long
    {.name = "ops",
     .alias = "-i",
     .value = "N",
     .section = Section::how_long,
     .audience = Audience::daily,
     .serves = Serves::some,
     .exclusive = "ops",
     .example = "100",
     .help = "timed ops per point (default: {ops})",
     .set = [](Options& o, Values v, const Catalogue&) { o.ops = parse_int(v[0], 1, kMostOps); }},
    {.name = "warmup",
     .alias = "-x",
     .value = "N",
     .section = Section::how_long,
     .serves = Serves::some,
     .example = "20",
     .help = "untimed ops before them (default: {warmup})",
     .set = [](Options& o, Values v, const Catalogue&) { o.warmup = parse_int(v[0], 0, kMostOps); }},
    {.name = "precision",
     .value = "SHARE",
     .section = Section::how_long,
     .audience = Audience::daily,
     .serves = Serves::some,
     .exclusive = "ops",
     .example = "1%",
     .help =
         "instead of --ops: until the 95% confidence interval of the median is within this share of the median on "
         "either side",
     .set = [](Options& o, Values v, const Catalogue&) { o.precision = parse_share(v[0]); }},
    {.name = "min-ops",
     .value = "N",
     .section = Section::how_long,
     .serves = Serves::some,
     .example = "30",
     .help = "minimum number of ops with --precision (default: 30)",
     .set = [](Options& o, Values v, const Catalogue&) { o.min_ops = parse_int(v[0], 6, kMostOps); }},
    {.name = "max-ops",
     .value = "N",
     .section = Section::how_long,
     .serves = Serves::some,
     .example = "1000",
     .help = "maximum number of ops with --precision (default: 1000)",
     .set = [](Options& o, Values v, const Catalogue&) { o.max_ops = parse_int(v[0], 6, kMostOps); }},
    {.name = "time-budget",
     .value = "TIME",
     .section = Section::how_long,
     .serves = Serves::some,
     .example = "30s",
     .help = "end the timed ops of a point after this time, with those done by then: 500ms, 30s, 2min (default: no "
             "limit)",
     .set = [](Options& o, Values v, const Catalogue&) { o.time_budget = parse_positive_duration(v[0]); }},

    // how
    {.name = "sync",
     .value = "HOW",
     .section = Section::how,
     .serves = Serves::some,
     .example = "barrier",
     .help = "how an op starts: clock (all ranks at one moment of a common clock), barrier, auto: clock where it "
             "is accurate enough and no node is oversubscribed, or, of alltoall, none: ops follow one another, as "
             "in an "
             "application (default: auto)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.sync = choose<Sync>("start", v[0],
                                   {{"auto", Sync::automatic},
                                    {"clock", Sync::clock},
                                    {"barrier", Sync::barrier},
                                    {"none", Sync::none}});
         }},
    {.name = "post",
     .value = "WHEN",
     .section = Section::how,
     .serves = Serves::some,
     .example = "inside",
     .help = "post receives before the op starts or inside it (default: before; with --baseline mpi always inside)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.post = choose<Post>("moment", v[0], {{"before", Post::before}, {"inside", Post::inside}});
         }},
    {.name = "complete-at",
     .value = "WHERE",
     .section = Section::how,
     .serves = Serves::some,
     .example = "sender",
     .help = "an op ends when all sends and arrivals are complete (receiver) or only the sends (sender, the 2019 "
             "rule) (default: receiver)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.complete_at = choose<CompleteAt>(
                 "end of an op", v[0], {{"receiver", CompleteAt::receiver}, {"sender", CompleteAt::sender}});
         }},
    {.name = "percentile",
     .value = "RULE",
     .section = Section::how,
     .example = "index",
     .help = "rank: the ceil(q*n)-th smallest; index: sorted[int(q*n)], the 2019 rule (default: rank)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.percentile = choose<PercentileRule>(
                 "percentile rule", v[0], {{"rank", PercentileRule::rank}, {"index", PercentileRule::index}});
         }},
    {.name = "poll",
     .value = "LIST",
     .section = Section::how,
     .arity = Arity::several,
     .example = "yield",
     .help = "how a rank waits for completions: spin, yield, or auto: yield where oversubscribed, else spin; of "
             "alltoall and "
             "pairs also block, or throttle=N: spin, and pause for 1 us after every N empty polls in a row; of "
             "alltoall "
             "several, such as spin,throttle=16, each of which points are then measured with (default: auto)",
     .set = [](Options& o, Values v, const Catalogue&) { o.polls = parse_polls(v); }},
    {.name = "memory",
     .value = "LIST",
     .section = Section::how,
     .arity = Arity::several,
     .example = "huge",
     .help = "pages of the message buffers: {memories}; of all but alltoall and pairs several, whose points "
             "are then measured with each (default: default)",
     .set = [](Options& o, Values v, const Catalogue& c) { o.memories = parse_memories(v, c); }},
    {.name = "memory-limit",
     .value = "SIZE",
     .section = Section::how,
     .example = "4GiB",
     .help = "limit for the message buffers of a node, and on rank 0's for samples; buffers that do not fit are "
             "shared by several peers (default: half of the free memory, of which peers that may share take 2 GiB)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.memory_limit = parse_bytes(v[0]);
             if (*o.memory_limit == 0) throw UsageError("'0' is not a limit above zero");
         }},
    {.name = "timeout",
     .value = "TIME",
     .section = Section::how,
     .example = "60s",
     .help = "end the run after this time without progress (default: 60s)",
     .set = [](Options& o, Values v, const Catalogue&) { o.timeout = parse_positive_duration(v[0]); }},
    {.name = "trace",
     .section = Section::how,
     .arity = Arity::flag,
     .serves = Serves::some,
     .help = "record when every message arrived, not only each rank's last: shows which pair a slow op waited for",
     .set = [](Options& o, Values, const Catalogue&) { o.traces = true; }},
    {.name = "verify-only",
     .section = Section::how,
     .arity = Arity::flag,
     .help = "verify every byte at every point, measure nothing and write no file",
     .set = [](Options& o, Values, const Catalogue&) { o.verify_only = true; }},
    {.name = "no-sentinel",
     .section = Section::how,
     .arity = Arity::flag,
     .serves = Serves::some,
     .help = "leave out the sentinel, the point that is measured first and last to detect drift",
     .set = [](Options& o, Values, const Catalogue&) { o.with_sentinel = false; }},
    {.name = "require",
     .value = "NAME=VALUE",
     .section = Section::how,
     .arity = Arity::several,
     .example = "PSM2_RCVTHREAD=0",
     .help = "refuse to run unless this variable has this value on every rank; may be given several times",
     .set = [](Options& o, Values v, const Catalogue&) { o.required_environment = parse_assignments(v); }},

    // out
    {.name = "output",
     .alias = "-o",
     .value = "FILE",
     .section = Section::out,
     .audience = Audience::daily,
     .example = "first.h5",
     .help = "results file, HDF5 (default: a2aperf-<UTC>.h5 in the working folder)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             if (v[0].empty()) throw UsageError("the name of the file is empty");
             o.output = v[0];
         }},
    {.name = "resume",
     .section = Section::out,
     .arity = Arity::flag,
     .exclusive = "overwrite",
     .help = "continue the file of --output: measure the points that are not complete in it",
     .set = [](Options& o, Values, const Catalogue&) { o.overwrite = Overwrite::resume; }},
    {.name = "force",
     .section = Section::out,
     .arity = Arity::flag,
     .exclusive = "overwrite",
     .help = "replace the file of --output if it exists",
     .set = [](Options& o, Values, const Catalogue&) { o.overwrite = Overwrite::force; }},
    {.name = "label",
     .value = "KEY=VALUE",
     .section = Section::out,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "firmware=10.9",
     .help = "stored in the results file, to select and compare by; may be given several times",
     .set = [](Options& o, Values v, const Catalogue&) { o.labels = parse_assignments(v); }},
    {.name = "attach",
     .value = "FILE",
     .section = Section::out,
     .arity = Arity::several,
     .example = "topology.txt",
     .help =
         "a text file, such as the output of a preflight, stored in the results file; may be given several times",
     .set = [](Options& o, Values v, const Catalogue&) { o.attachments.assign(v.begin(), v.end()); }},
    {.name = "node-facts",
     .value = "FILE",
     .section = Section::out,
     .example = "/etc/cables",
     .help =
         "what the site knows of each node, such as its cables: lines NAME=VALUE in a file that every node has of "
         "its own, stored in the results file",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             if (v[0].empty()) throw UsageError("the name of the file is empty");
             o.site_facts = v[0];
         }},
    {.name = "format",
     .value = "FORMAT",
     .section = Section::out,
     .example = "wide",
     .help = "format of the table on stdout: {formats} (default: table)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             o.format = choose<Format>("format", v[0],
                                       {{"table", Format::table},
                                        {"wide", Format::wide},
                                        {"compat", Format::compat},
                                        {"csv", Format::csv},
                                        {"json", Format::json},
                                        {"loopback", Format::loopback},
                                        {"qos", Format::qos},
                                        {"clusterperf", Format::clusterperf}});
         }},
    {.name = "quiet",
     .alias = "-q",
     .section = Section::out,
     .arity = Arity::flag,
     .help = "no progress, no notes and no summary on stderr, only errors",
     .set = [](Options& o, Values, const Catalogue&) { o.is_quiet = true; }},
    {.name = "dry-run",
     .section = Section::out,
     .arity = Arity::flag,
     .help = "show the plan, the memory per rank and node and an estimate of the time; measure nothing",
     .set = [](Options& o, Values, const Catalogue&) { o.is_dry_run = true; }},
    {.name = "ranks",
     .value = "R",
     .section = Section::out,
     .example = "320",
     .help = "with --dry-run: ranks to plan for, when not launched by MPI",
     .set = [](Options& o, Values v, const Catalogue&) { o.ranks = parse_int(v[0], 1, kMostRanks); }},
    {.name = "ranks-per-node",
     .value = "K",
     .section = Section::out,
     .example = "4",
     .help = "with --dry-run: ranks on each node (default: all on one)",
     .set = [](Options& o, Values v, const Catalogue&) { o.ranks_per_node = parse_int(v[0], 1, kMostRanks); }},
};

} // namespace

std::span<const OptionRow> common_options() {
    return kRows;
}

} // namespace a2aperf
