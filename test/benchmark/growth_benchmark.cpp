// SPDX-License-Identifier: BSD-3-Clause
// What grows on rank 0 with the number of ranks, by the real code on synthetic samples: the layout, the plan, a
// rank's steps, the summary of a point, the results file with a point in it and its end. Of each step the time,
// that of the CPU (user and system) apart, and by how much the most memory that the process had in it was above
// what it had before.
//
// growth-benchmark [FOLDER [RANKS...]]: the folder is for the files, of which that of the all-to-all stays; without
// one none does. Ranks are 1280, 10240 and 102400 unless told.
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/stats/pair_model.hpp"
#include "app/pair_matrix.hpp"
#include "app/workload.hpp"
#include "support/synthetic.hpp"

namespace {

using namespace a2aperf;

// From /proc/self/status, B.
Bytes resident(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        std::istringstream words(line);
        std::string name;
        Bytes kibibytes = 0;
        words >> name >> kibibytes;
        if (name == key) return kibibytes * 1024;
    }
    return 0;
}

// Of this process, ns.
Nanoseconds on_cpu() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<Nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

template <class Action>
auto step(int ranks, const char* name, Action action) {
    std::ofstream("/proc/self/clear_refs") << "5\n"; // the highest so far is forgotten
    const Bytes before = resident("VmRSS:");
    const Nanoseconds begin = now_ns();
    const Nanoseconds cpu_begin = on_cpu();
    auto result = action();
    const double milliseconds = static_cast<double>(now_ns() - begin) * 1e-6;
    const double cpu = static_cast<double>(on_cpu() - cpu_begin) * 1e-6;
    const Bytes most = resident("VmHWM:");
    fmt::print("{:>7} {:<34} {:>10.2f} {:>10.2f} {:>10}\n", ranks, name, milliseconds, cpu,
               format_bytes(most > before ? most - before : 0));
    std::fflush(stdout);
    return result;
}

Options options_of(const Workload& workload) {
    Options options;
    workload.row().set_defaults(options);
    options.workload = workload.row().name;
    if (options.schedules.empty()) options.schedules = {&find_schedule("shift")};
    return options;
}

struct File {
    const Workload& workload;
    const Options& options;
    const Layout& layout;
    const Plan& plan;
    const Provenance& provenance;
    const std::filesystem::path& path;
};

// Creates it, puts a point into it, ends it.
void record(const File& of, const PointResult& result, int most_attempts) {
    const int ranks = of.layout.ranks();
    RecorderSettings settings;
    settings.file = of.path;
    settings.max_attempts = most_attempts;
    settings.provider = "synthetic";
    settings.schema = of.workload.schema();
    settings.group = of.workload.group(of.options, of.plan, ranks);
    settings.may_replace = true;
    try {
        Recorder recorder = step(ranks, "  results file: create",
                                 [&] { return Recorder::create(settings, of.plan, of.layout, of.provenance); });
        step(ranks, "  results file: write a point", [&] {
            recorder.write(of.plan.order.at(1), result); // behind a sentinel
            return 0;
        });
        step(ranks, "  results file: end, compact", [&] { return recorder.end(EndState::finished, ""); });
    } catch (const std::exception& error) {
        fmt::print("{:>7}   results file: {}\n", ranks, error.what());
    }
}

void measure_alltoall(int ranks, const Layout& layout, const Provenance& provenance,
                      const std::filesystem::path& file) {
    const Options options = options_of(alltoall());
    const auto no_skip = [](const Point&) -> std::optional<std::string> { return std::nullopt; };
    const Plan plan = step(ranks, "alltoall: plan", [&] { return alltoall().plan(options, layout, no_skip); });
    const Point& first = plan.points[static_cast<std::size_t>(plan.order.front())];
    step(ranks, "  steps of one rank", [&] { return first.peers(0, layout, options.seed).sends.size(); });
    const PointResult result = step(ranks, "  samples of 100 ops and summary", [&] {
        return test::synthetic_result(plan.order.front(), plan, layout, options.ops, provenance);
    });
    record({alltoall(), options, layout, plan, provenance, file}, result, 2 * options.ops);
}

void measure_pairs(int ranks, const Layout& layout, const Provenance& provenance,
                   const std::filesystem::path& file) {
    const Options options = options_of(pairs());
    const auto no_skip = [](const Point&) -> std::optional<std::string> { return std::nullopt; };
    const Plan plan = step(ranks, "pairs: plan", [&] { return pairs().plan(options, layout, no_skip); });
    PointResult result = test::synthetic_result(plan.order.front(), plan, layout, options.ops, provenance);
    result.samples.exit.assign(result.samples.begin.size(), 0);
    const std::vector<PairTime> times = step(ranks, "  times of a step's pairs",
                                             [&] { return pair_times(result.samples, 1, options.percentile, 0); });
    step(ranks, "  judging all measured pairs", [&] {
        std::vector<PairTime> all;
        for (const int index : plan.order) {
            const Point& point = plan.points[static_cast<std::size_t>(index)];
            if (point.message_size != plan.points.front().message_size) continue;
            for (PairTime pair : times) {
                pair.destination = (pair.source + point.distance) % ranks;
                all.push_back(pair);
            }
        }
        return judge_pairs(all, layout).suspects.size();
    });
    record({pairs(), options, layout, plan, provenance, file}, result, 2 * options.ops);
}

void measure(int ranks, const std::filesystem::path& folder, bool is_kept) {
    const Layout layout = step(ranks, "layout", [&] { return Layout::blocks(ranks, 4); });
    const Provenance provenance = test::synthetic_provenance(layout);
    const std::filesystem::path file = folder / fmt::format("a2aperf-growth-{}.h5", ranks);
    const std::filesystem::path of_pairs = folder / fmt::format("a2aperf-growth-pairs-{}.h5", ranks);
    measure_alltoall(ranks, layout, provenance, file);
    if (!is_kept) std::filesystem::remove(file);
    measure_pairs(ranks, layout, provenance, of_pairs);
    std::filesystem::remove(of_pairs);
}

} // namespace

int main(int argc, char** argv) {
    fmt::print("{:>7} {:<34} {:>10} {:>10} {:>10}\n", "ranks", "step", "ms", "CPU ms", "memory");
    const bool is_kept = argc > 1;
    const std::filesystem::path folder = is_kept ? argv[1] : std::filesystem::temp_directory_path();
    std::vector<int> sizes;
    for (int i = 2; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
    for (const int ranks : sizes.empty() ? std::vector<int>{1280, 10'240, 102'400} : sizes)
        measure(ranks, folder, is_kept);
}
