// SPDX-License-Identifier: BSD-3-Clause
// Who measured, where and with what: one launch's segment in the results file. Plain data on rank 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/result/point_result.hpp"
#include "a2aperf/result/start_times.hpp"

namespace a2aperf {

struct EnvironmentVariable {
    std::string name;
    std::string value; // rank 0's
    bool is_uniform = true;
    bool is_required = false; // the user set it and it decides results: the same in a launch that resumes this one
};

// Names follow docs/file-format.md, /segments/<i>.
struct Provenance {
    std::map<std::string, std::string> text;       // string attributes by name (program_version, sync, …)
    std::map<std::string, std::int64_t> integers;  // integer attributes by name
    std::map<std::string, double> numbers;         // floating attributes by name; NaN = unknown
    std::int64_t time_origin_ns = 0;               // since 1970-01-01: the zero of /raw/start
    std::vector<std::string> nodes;                // [N] host names
    std::vector<int> node_of_rank;                 // [R]
    std::vector<int> clock_domain_of_rank;         // [R]
    std::vector<double> clock_offset, clock_drift; // [R] ns and ns/ns against rank 0 at the start
    std::vector<int> rank_order;                   // [R] MPI_COMM_WORLD rank of each rank
    std::vector<EnvironmentVariable> environment;
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<std::pair<std::string, std::string>> attachments; // file name, its text
    std::string provider_attributes;                              // in libfabric's words
    std::map<std::string, std::vector<std::string>> node_facts;   // fact -> [N]
    std::map<std::string, std::vector<std::string>> rank_facts;   // fact -> [R]
    std::vector<std::string> port_names;                          // [C]
    std::vector<StartTimes::Times> start_times;                   // [R]
    PhaseCounts start; // from before the channels are opened until the first point can be measured
};

} // namespace a2aperf
