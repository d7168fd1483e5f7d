// SPDX-License-Identifier: BSD-3-Clause
// The options that streams alone have, and what they are put into.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "a2aperf/config/options.hpp"
#include "a2aperf/config/workload_row.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {

struct StreamOptions {
    StreamPairs pairs = StreamPairs::parse("halves");
    bool is_duplex = false;
    std::string from{}, to{}; // the senders' adapter and the receivers', as --nic has them; empty: --nic
    std::vector<FreeDelay> free_delays{{}};
    std::vector<InjectUse> injects{InjectUse::automatic};
    std::vector<CompletionLevel> completions{CompletionLevel::as_provider};
    std::vector<int> cq_mods{1};
    std::vector<Threads> threads{Threads::one};
    Nanoseconds duration = 1'000'000'000;
    std::optional<int> messages;
    bool traces = false;
    std::optional<int> most_samples;

    int samples() const { return most_samples.value_or(traces ? 20'000 : 1000); }
};

const StreamOptions& stream_options(const Options& options);
std::span<const OptionRow> stream_option_rows();

// What one option says about another. Throws UsageError.
void check_stream_options(const Options& options);

} // namespace a2aperf
