// SPDX-License-Identifier: BSD-3-Clause
// The main function of every MPI test program.
#define DOCTEST_CONFIG_IMPLEMENT
#include "test/mpi/mpi_test.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "a2aperf/job/watchdog.hpp"

namespace a2aperf::test {
namespace {

std::optional<Job> g_job;
RankShuffle g_shuffle;
bool g_is_stopped = false;

} // namespace

Job& job() {
    return *g_job;
}

RankShuffle shuffle() {
    return g_shuffle;
}

void expect_a_signal() {
    g_is_stopped = true;
}

int run(int argc, char** argv) {
    constexpr std::string_view kShuffle = "--shuffle=";
    if (argc > 1 && std::string_view(argv[1]).starts_with(kShuffle)) {
        const std::string_view seed = std::string_view(argv[1]).substr(kShuffle.size());
        g_shuffle.is_wanted = true;
        std::from_chars(seed.data(), seed.data() + seed.size(), g_shuffle.seed);
    }
    g_job.emplace(argc, argv, g_shuffle);
    g_job->set_timeout(600'000'000'000);
    doctest::Context context(argc, argv);
    context.setOption("minimal", true);   // only what failed, or there would be as many reports as ranks
    context.setOption("no-colors", true); // mpirun gives every rank a terminal
    std::int64_t status = context.run();
    if (!g_is_stopped) status = g_job->max(status);
    if (g_is_stopped) Watchdog::hasten(0); // the signal was heeded: MPI_Finalize has all its time again
    g_job.reset();
    return static_cast<int>(status);
}

} // namespace a2aperf::test

int main(int argc, char** argv) {
    return a2aperf::test::run(argc, argv);
}
