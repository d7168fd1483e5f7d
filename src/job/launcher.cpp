// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace a2aperf {
namespace {

std::optional<int> first_number(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const char* text = std::getenv(name);
        if (text == nullptr) continue;
        const std::string_view view = text;
        int value = 0;
        if (std::from_chars(view.data(), view.data() + view.size(), value).ec == std::errc{}) return value;
    }
    return std::nullopt;
}

// A Slurm batch script has SLURM_PROCID=0 too; only a step that srun started has a step other than "batch".
bool is_slurm_step() {
    const char* step = std::getenv("SLURM_STEP_ID");
    return step != nullptr && std::getenv("SLURM_STEP_NUM_TASKS") != nullptr &&
           std::string_view(step) != "4294967291"; // SLURM_BATCH_SCRIPT
}

} // namespace

std::optional<Rank> launched_rank() {
    if (auto rank = first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})) return rank;
    return is_slurm_step() ? first_number({"SLURM_PROCID"}) : std::nullopt;
}

std::optional<int> launched_ranks() {
    if (auto size = first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})) return size;
    return is_slurm_step() ? first_number({"SLURM_STEP_NUM_TASKS"}) : std::nullopt;
}

} // namespace a2aperf
