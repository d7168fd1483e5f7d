// SPDX-License-Identifier: BSD-3-Clause
// a2aperf: how much bandwidth a cluster has when every rank talks to every other.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/config/command_line.hpp"
#include "a2aperf/fabric/memory.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "commands.hpp"
#include "workload.hpp"

namespace {

using namespace a2aperf;

constexpr int kUsage = 2;

Catalogue what_there_is() {
    Catalogue catalogue;
    for (const Provider& provider : known_providers()) catalogue.providers.emplace_back(provider.name);
    for (const ModeEntry& mode : mode_table()) catalogue.modes.emplace_back(mode.name);
    for (const MemoryKind& kind : memory_kinds()) catalogue.memories.emplace_back(kind.name);
    catalogue.workloads = workload_rows();
    return catalogue;
}

// Every rank finds the same mistake and one of them tells. The launcher ends the job with the first that leaves,
// so the others give it time to speak.
int report_once(const UsageError& error) {
    if (launched_rank().value_or(0) != 0)
        std::this_thread::sleep_for(std::chrono::seconds(2));
    else
        complain(error.what());
    return kUsage;
}

int run(int argc, char** argv) {
    const auto [options, providers, answer] = parse_command_line(argc, argv, what_there_is());
    if (answer) return launched_rank().value_or(0) == 0 && !say(*answer) ? 1 : 0;
    if (providers) return run_providers(*providers);
    if (options.complete_at == CompleteAt::sender) require_sends(workload_of(options).modes(options));
    if (options.is_dry_run) return run_dry(options);
    return run_launch(argc, argv, options);
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        return report_once(error);
    } catch (const NothingToMeasure& error) {
        complain(error.what());
        return NothingToMeasure::kExitStatus;
    } catch (const std::exception& error) {
        // Where the launch has not come so far that it can tell more of its ranks.
        const auto rank = launched_rank();
        complain(fmt::format("{}{}", rank ? fmt::format("rank {}: ", *rank) : "", words_of(error)));
        return 1;
    }
}
