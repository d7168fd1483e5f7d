// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/launcher.hpp"

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// The environment of one launch, by hand or by some launcher, and nothing else of any launcher.
class Environment {
public:
    Environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
        clear();
        for (const auto& [name, value] : variables) setenv(name, value, 1);
    }
    ~Environment() { clear(); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    static void clear() {
        for (const char* name :
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
              "SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"})
            unsetenv(name);
    }
};

} // namespace

TEST_CASE("started by hand there is no rank") {
    const Environment by_hand{};
    CHECK_FALSE(launched_rank().has_value());
    CHECK_FALSE(launched_ranks().has_value());
}

TEST_CASE("mpirun of Open MPI") {
    const Environment mpirun{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"PMIX_RANK", "3"}};
    CHECK(launched_rank() == 3);
    CHECK(launched_ranks() == 8);
}

TEST_CASE("mpiexec of MPICH") {
    const Environment mpiexec{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
    CHECK(launched_rank() == 0);
    CHECK(launched_ranks() == 2);
}

TEST_CASE("srun with PMIx names the rank, Slurm the ranks of the step, not of the allocation") {
    const Environment srun{{"PMIX_RANK", "5"},
                           {"SLURM_PROCID", "5"},
                           {"SLURM_NTASKS", "12"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "6"}};
    CHECK(launched_rank() == 5);
    CHECK(launched_ranks() == 6);
}

TEST_CASE("a Slurm batch script is no launch though it has a process number") {
    const Environment before_22_05{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
    CHECK_FALSE(launched_rank().has_value());
    CHECK_FALSE(launched_ranks().has_value());
}

TEST_CASE("nor is one whose step is the batch step") {
    const Environment batch{{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}, {"SLURM_STEP_NUM_TASKS", "1"}};
    CHECK_FALSE(launched_rank().has_value());
    CHECK_FALSE(launched_ranks().has_value());
}

TEST_CASE("mpirun inside a batch script counts, whatever Slurm says about the script") {
    const Environment both{{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "40"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_NTASKS", "4"}};
    CHECK(launched_rank() == 1);
    CHECK(launched_ranks() == 40);
}

TEST_CASE("a variable that is no number says nothing") {
    const Environment odd{{"OMPI_COMM_WORLD_RANK", ""}, {"PMI_RANK", "two"}, {"PMI_SIZE", "?"}};
    CHECK_FALSE(launched_rank().has_value());
    CHECK_FALSE(launched_ranks().has_value());
}
