// SPDX-License-Identifier: BSD-3-Clause
// Every ordered pair of ranks, in steps in which each rank sends to one other.
#include <set>

#include <fmt/format.h>

#include "a2aperf/record/recorder.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "pair_steps.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

// A step is a small point: verification, agreements and the gathering weigh more than its ops.
constexpr double kSecondsPerStep = 5e-3;
constexpr double kSecondsPerStepAndRank = 20e-6;
constexpr double kSecondsPerAgreement = 50e-6;

class Pairs final : public Workload {
public:
    std::string_view name() const override { return "pairs"; }
    std::string_view demands() const override { return "pairs need"; }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        return make_pair_plan(pair_axes_of(options), layout, skip);
    }

    // Steps that cannot be measured are so for their size, all alike.
    std::string describe(const Plan& plan, const Options& options, int ranks) const override {
        std::string lines = fmt::format("  {}, then at most {} outlying pairs again\n",
                                        pair_effort(plan, options, ranks), options.suspects);
        for (const Point& point : plan.points)
            if (point.distance == 1)
                lines += fmt::format("  {} {} B{}{}\n", point.mode, point.message_size,
                                     point.is_skipped() ? ", skipped: " : "", point.skip_reason);
        return lines;
    }

    int messages_at_once(int) const override { return 1; }

    double seconds_of_point(const Options&, Bytes message_size, double ops, int ranks) const override {
        const double op =
            kSecondsPerAgreement + kSecondsPerMessage + static_cast<double>(message_size) / kBytesPerSecond;
        return kSecondsPerStep + kSecondsPerStepAndRank * ranks + ops * op;
    }
    int points_afterwards(const Options& options) const override { return options.suspects; }

    bool is_collective() const override { return false; }
    void declare(RecorderSettings& settings, const Options& options) const override {
        settings.subject = "pairs of ranks";
        settings.suspects = options.suspects;
        settings.isolated_ops = options.ops;
    }
    void measure(Launch& launch) const override { launch.measure_pairs(); }
};

} // namespace

PairAxes pair_axes_of(const Options& options) {
    return {.sizes = options.sizes,
            .mode = options.modes.front(),
            .post = options.post,
            .most_steps = options.steps,
            .order = options.order,
            .seed = options.seed};
}

std::string pair_effort(const Plan& plan, const Options& options, int ranks) {
    std::set<int> steps;
    std::set<Bytes> sizes;
    for (const int index : plan.order) {
        steps.insert(plan.points[static_cast<std::size_t>(index)].distance);
        sizes.insert(plan.points[static_cast<std::size_t>(index)].message_size);
    }
    return fmt::format("{} of {} steps x {} size{} x ({} + {}) ops on {} ranks", steps.size(), ranks - 1,
                       sizes.size(), sizes.size() == 1 ? "" : "s", options.warmup, options.ops, ranks);
}

const Workload& pairs() {
    static const Pairs row;
    return row;
}

} // namespace a2aperf
