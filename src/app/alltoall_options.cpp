// SPDX-License-Identifier: BSD-3-Clause
#include "alltoall_options.hpp"

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "pipeline.hpp"
#include "search_plan.hpp"
#include "traffic_options.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

using Values = std::span<const std::string>;

constexpr OptionRow kOptions[] = {
    {.name = "traffic",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "uniform,zipf=1.2",
     .help = "who sends how much to whom: uniform, zipf=1.2, hot-rank=3x, rotating-hot=3x, hot-node=4x, "
             "permutation, shift=K, "
             "neighbours=D, sparse=10%, incast, outcast, bisection, moe(experts=64,top=8,...), or a matrix in a "
             "file .mtx or .csv; "
             "--sizes is the mean of all pairs of ranks (default: uniform)",
     .set = [](Options& o, Values v, const Catalogue&) { alltoall_options(o).patterns = read_traffic(v); }},
    {.name = "redraw",
     .value = "WHEN",
     .section = Section::what,
     .example = "op",
     .help = "draw what of --traffic is random once a launch, or anew for each op (default: launch)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             alltoall_options(o).redraws = choose<bool>("moment", v[0], {{"launch", false}, {"op", true}});
         }},
    {.name = "chunk",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "whole,64KiB",
     .help = "cut longer messages into chunks of this size, or whole; the window counts chunks (default: whole)",
     .set = [](Options& o, Values v, const Catalogue&) { alltoall_options(o).chunks = parse_chunks(v); }},
    {.name = "endpoints",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "1,2",
     .help = "open so many endpoints per rank and deal the peers over them (default: 1)",
     .set = [](Options& o, Values v, const Catalogue&) { alltoall_options(o).endpoints = parse_endpoints(v); }},
    {.name = "queues",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "each,one",
     .help = "give each of several --endpoints a completion queue and a domain of its own, or all those of a rank "
             "one queue within one domain (default: each)",
     .set = [](Options& o, Values v, const Catalogue&) { alltoall_options(o).queues = parse_queues(v); }},
    {.name = "threads",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .example = "one,each",
     .help =
         "drive several --endpoints of a rank from its one thread, or each from a thread of its own, on a core of "
         "its own where there are enough (default: one)",
     .set = [](Options& o, Values v, const Catalogue&) { alltoall_options(o).threads = parse_threads(v); }},
    {.name = "search",
     .value = "TIME",
     .section = Section::what,
     .arity = Arity::perhaps,
     .example = "2min",
     .help =
         "find the fastest of all --mode, --schedule, --window, --chunk, --endpoints, --threads and --poll (those "
         "given, else "
         "the usual ones) at each size within this time, and compare it with the default setting in alternating "
         "blocks (without a time: 5min)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             alltoall_options(o).search = v.empty() ? kSearchTime : parse_positive_duration(v[0]);
         }},
};

// Beside MPI's collective, which posts its receives inside, our own points do so, too.
void check_baseline(const Options& options) {
    if (options.with_mpi_baseline && options.is_given("post") && options.post == Post::before)
        throw UsageError(
            "--baseline mpi and --post before exclude each other: MPI posts its receives inside the op, "
            "and a comparison needs ours there, too");
}

// A rank sleeps on the queue of one endpoint only.
void check_endpoints(const Options& options) {
    const std::vector<int>& endpoints = alltoall_options(options).endpoints;
    const auto& way = options.polls.front();
    if (way && way->polling == Polling::block && endpoints != std::vector<int>{1})
        throw UsageError("--poll block sleeps on the queue of one endpoint: use another --poll with --endpoints");
    // Whoever reads it also looks after those that a point leaves idle.
    const std::vector<Queues>& queues = alltoall_options(options).queues;
    if (std::ranges::count(queues, Queues::one) > 0 &&
        std::ranges::count_if(endpoints, [](int count) { return count > 1; }) > 1)
        throw UsageError(
            "--queues one: all endpoints that a rank opens have that queue, so of --endpoints one number "
            "above 1 can be given: another one is for a launch of its own");
    if (!options.is_given("threads")) return;
    const std::vector<Threads>& threads = alltoall_options(options).threads;
    const bool tries_several = alltoall_options(options).search && !options.is_given("endpoints");
    if (endpoints == std::vector<int>{1} && !tries_several)
        throw UsageError("--threads: a rank has a thread for each of several endpoints: give --endpoints above 1");
    if (threads == std::vector{Threads::each} && queues == std::vector{Queues::one})
        throw UsageError(
            "--threads each: endpoints that have one queue have one domain, which belongs to one thread "
            "at a time: use --queues each");
}

// Which adapter an endpoint has follows from how many a rank has.
void check_adapters(const Options& options) {
    if (!names_several_nics(options.nic)) return;
    const bool has_search = alltoall_options(options).search.has_value();
    for (const int endpoints : alltoall_options(options).endpoints)
        if (endpoints != (has_search ? 1 : alltoall_options(options).endpoints.front()))
            throw UsageError(fmt::format("--nic {}: which adapter an endpoint has follows from how many "
                                         "--endpoints there are: give one number "
                                         "of them{}",
                                         options.nic,
                                         has_search ? ", with --search 1, which its default setting has" : ""));
}

// Of queues of another kind a launch has none beside those that are polled.
void check_polls(const Options& options) {
    if (options.polls.size() == 1) return;
    for (const auto& way : options.polls)
        if (!way || way->polling == Polling::block)
            throw UsageError(
                fmt::format("--poll: of several each is spin, yield or throttle=N, and {} is for a launch of "
                            "its own",
                            way ? "block" : "auto"));
}

} // namespace

std::span<const OptionRow> alltoall_option_rows() {
    return kOptions;
}

void check_alltoall_options(const Options& options) {
    constexpr Format kFormats[] = {Format::table, Format::wide, Format::compat, Format::csv, Format::json};
    require_format(options, kFormats, "table, wide, compat, csv, json");
    require_one_memory(options);
    if (alltoall_options(options).search) check_search(options);
    if (options.sync == Sync::none) check_pipelined(options);
    check_baseline(options);
    check_endpoints(options);
    check_adapters(options);
    check_polls(options);
    check_redraw(alltoall_options(options).patterns, alltoall_options(options).redraws);
}

} // namespace a2aperf
