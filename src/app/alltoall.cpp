// SPDX-License-Identifier: BSD-3-Clause
// The all-to-all: every rank sends one message to every other, all at once.
#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/record/recorder.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

constexpr double kSecondsPerPoint = 0.05;

class AllToAll final : public Workload {
public:
    std::string_view name() const override { return "alltoall"; }
    std::string_view demands() const override { return "an all-to-all needs"; }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const Axes axes{.sizes = options.sizes,
                        .modes = options.modes,
                        .schedules = options.schedules,
                        .windows = options.windows,
                        .post = options.post,
                        .with_baseline = options.with_mpi_baseline,
                        .with_sentinel = options.with_sentinel,
                        .order = options.order,
                        .seed = options.seed};
        return make_plan(axes, layout, skip);
    }

    std::string describe(const Plan& plan, const Options&, int) const override {
        std::string lines;
        for (const Point& point : plan.points) {
            if (point.role != Role::measure) continue;
            lines += "  " + point.label();
            if (point.partner >= 0) lines += ", with MPI_Alltoall as baseline";
            if (point.is_skipped()) lines += fmt::format(", skipped: {}", point.skip_reason);
            lines += '\n';
        }
        return lines;
    }

    int messages_at_once(int ranks) const override { return ranks; }

    double seconds_of_point(const Options& options, Bytes message_size, double ops, int ranks) const override {
        const double op = (ranks - 1) * (kSecondsPerMessage + static_cast<double>(message_size) / kBytesPerSecond);
        double point = ops * op * (options.with_mpi_baseline ? 2 : 1);
        if (options.time_budget) point = std::min(point, static_cast<double>(*options.time_budget) * 1e-9);
        return kSecondsPerPoint + point;
    }

    bool is_collective() const override { return true; }
    void declare(RecorderSettings& settings, const Options&) const override { settings.subject = "all-to-all"; }
    void measure(Launch& launch) const override { launch.measure_all(); }
};

} // namespace

const Workload& alltoall() {
    static const AllToAll row;
    return row;
}

} // namespace a2aperf
