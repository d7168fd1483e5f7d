// SPDX-License-Identifier: BSD-3-Clause
// What recording costs rank 0, with samples as long as a real launch's: creating the file, writing a point (between
// two points, never inside a timed op), the end with its compact copy; and what the file weighs.
//
// record-benchmark [FOLDER]: the file's folder, by default the one for temporary files.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/record/recorder.hpp"
#include "support/schema.hpp"
#include "support/synthetic.hpp"

namespace {

using namespace a2aperf;

constexpr int kAttempts = 100;
constexpr int kMostAttempts = 200; // room for as many invalid ones
constexpr double kMilliseconds = 1e-6;

// Times as a busy machine gives them: hard to compress.
void add_noise(Samples& samples, std::mt19937_64& random) {
    std::lognormal_distribution<double> microseconds(4.5, 0.3);
    for (std::size_t i = 0; i < samples.begin.size(); ++i) {
        samples.begin[i] = static_cast<Nanoseconds>(random() % 1000);
        samples.send_done[i] = samples.begin[i] + static_cast<Nanoseconds>(1e3 * microseconds(random));
        samples.recv_done[i] = samples.send_done[i] + static_cast<Nanoseconds>(random() % 20'000);
    }
}

std::uint64_t on_disk(const std::filesystem::path& file) {
    constexpr std::uint64_t kBlock = 512;
    struct stat status {};
    stat(file.c_str(), &status);
    return static_cast<std::uint64_t>(status.st_blocks) * kBlock;
}

void measure(const std::filesystem::path& folder, int ranks, int points) {
    const Layout layout = Layout::blocks(ranks, std::min(ranks, 4));
    const Plan plan = test::synthetic_plan(points);
    const Provenance provenance = test::synthetic_provenance(layout);
    RecorderSettings settings;
    settings.file = folder / fmt::format("a2aperf-record-benchmark-{}.h5", ranks);
    settings.max_attempts = kMostAttempts;
    settings.provider = "synthetic";
    settings.schema = test::kSchema;
    settings.may_replace = true;

    const Nanoseconds before = now_ns();
    Recorder recorder = Recorder::create(settings, plan, layout, provenance);
    const double create_ms = static_cast<double>(now_ns() - before) * kMilliseconds;

    std::mt19937_64 random(1);
    std::vector<double> write_ms;
    PointResult result = test::synthetic_result(1, plan, layout, kAttempts, provenance);
    for (int p = 0; p < points; ++p) {
        if (plan.points[static_cast<std::size_t>(p)].is_skipped()) continue;
        add_noise(result.samples, random);
        const Nanoseconds begin = now_ns();
        recorder.write(p, result);
        write_ms.push_back(static_cast<double>(now_ns() - begin) * kMilliseconds);
    }
    std::sort(write_ms.begin(), write_ms.end());
    const std::uint64_t used = on_disk(settings.file);
    const Nanoseconds end = now_ns();
    recorder.end(EndState::finished, "");
    const double end_ms = static_cast<double>(now_ns() - end) * kMilliseconds;
    const double sample_bytes = 3.0 * sizeof(Nanoseconds) * kAttempts * ranks;
    fmt::print("{:>6} {:>5} {:>9} {:>9.1f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.0f} {:>10} {:>10}\n", ranks,
               write_ms.size(), format_bytes(static_cast<Bytes>(sample_bytes)), create_ms, write_ms.front(),
               write_ms[write_ms.size() / 2], write_ms.back(), end_ms, format_bytes(used),
               format_bytes(std::filesystem::file_size(settings.file)));
    std::filesystem::remove(settings.file);
}

} // namespace

int main(int argc, char** argv) {
    const std::filesystem::path folder = argc > 1 ? argv[1] : std::filesystem::temp_directory_path();
    fmt::print("{} ops a point; times in ms; write: of one point, durable against the end of the process\n",
               kAttempts);
    fmt::print("{:>6} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}\n", "ranks", "n", "samples", "create",
               "write min", "median", "max", "end", "on disk", "compact");
    struct Size {
        int ranks;
        int points;
    };
    for (const auto& [ranks, points] :
         {Size{20, 50}, Size{80, 50}, Size{160, 50}, Size{320, 50}, Size{1280, 26}, Size{10'240, 10}})
        measure(folder, ranks, points);
}
