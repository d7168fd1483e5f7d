// SPDX-License-Identifier: BSD-3-Clause
// What the user asked for, as types. Every value here is already checked as far as that is possible without
// MPI and libfabric.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/plan/plan.hpp"
#include "a2aperf/result/format.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

enum class Sync { automatic, clock, barrier, none };
enum class Overwrite { refuse, resume, force };

struct Options {
    std::string_view workload;           // its name
    std::any own;                        // what the options that it alone has are put into
    std::vector<std::string_view> given; // names of the options that were given, here or in a --config file

    // where
    std::string provider = "auto";
    std::string nic = "nearest";     // as NicWish::text has it
    std::optional<double> link_rate; // Gbit/s of each adapter, one direction

    // what
    Bytes least_size = 1; // of a message of this workload; 0 = it may be empty
    std::vector<Bytes> sizes;
    std::vector<std::string> modes{"tagged"};
    std::vector<const Schedule*> schedules; // default: shift
    std::vector<Window> windows{{}};        // all
    Order order = Order::declared;
    std::uint64_t seed = 1;
    bool shuffle_ranks = false;
    bool with_mpi_baseline = false;

    // how long
    int ops = 100;
    int warmup = 20;
    std::optional<double> precision; // 0.01 = 1 %
    int min_ops = 30;
    int max_ops = 1000;                     // with precision
    std::optional<Nanoseconds> time_budget; // per point

    // how
    Sync sync = Sync::automatic;
    Post post = Post::before;
    CompleteAt complete_at = CompleteAt::receiver;
    PercentileRule percentile = PercentileRule::rank;
    std::vector<std::optional<PollingWay>> polls{std::nullopt}; // nothing: by the number of cores
    std::vector<std::string> memories{"default"};               // kinds
    std::optional<Bytes> memory_limit;                          // per node, for the message buffers of its ranks
    Nanoseconds timeout = 60'000'000'000;
    bool verify_only = false;
    bool traces = false; // --trace
    bool with_sentinel = true;

    // out
    std::optional<std::filesystem::path> output; // default: a2aperf-<utc>.h5 in the working folder
    Overwrite overwrite = Overwrite::refuse;
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<std::pair<std::string, std::string>> required_environment; // --require NAME=VALUE
    std::vector<std::filesystem::path> attachments;                        // --attach FILE
    std::optional<std::filesystem::path> site_facts;                       // --node-facts FILE
    Format format = Format::table;
    bool is_quiet = false;
    bool is_dry_run = false;
    std::optional<int> ranks;          // --dry-run
    std::optional<int> ranks_per_node; // --dry-run

    std::string command_line; // as typed, for the file

    bool is_given(std::string_view option) const {
        return std::find(given.begin(), given.end(), option) != given.end();
    }
};

} // namespace a2aperf
