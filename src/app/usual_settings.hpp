// SPDX-License-Identifier: BSD-3-Clause
// What a search tries of --chunk, --endpoints, --threads and --poll where they are not given. Pure: the same on all
// ranks, and without MPI.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload.hpp"

namespace a2aperf {

// One option's settings at a time, in every mode and else as the first setting of the axes that can be measured is.
// The options whose settings go first where there is no time for them are last; one of which nothing is tried is
// not there. Of several endpoints with one thread those that the provider cannot do are there as skipped; what else
// cannot be done is left out.
std::vector<std::vector<Point>> usual_settings(const Options& options, const Axes& axes, const Layout& layout,
                                               const Workload::Skip& skip);

// Of a rank, that a search may try though nobody asked for them.
int most_usual_endpoints();

// Why another way to poll is not tried where ranks share cores (plan/oversubscription.hpp, or other words; empty =
// they don't); nothing where it is, or was asked for. Which of them lets a peer go on first is up to the scheduler.
std::optional<std::string> usual_poll_trouble(const Options& options, const Point& point,
                                              const std::string& oversubscription);

// Why so many threads of each rank would share cores, in words; empty where each has one.
using WhyThreadsShare = std::function<std::string(int threads)>;

// The same of threads for several endpoints, of which none is tried that has no core.
std::optional<std::string> usual_threads_trouble(const Options& options, const Point& point,
                                                 const WhyThreadsShare& why);

// "not tried: --endpoints 2 (a rank has one peer); --poll …", of the first plan of a search; empty where all is.
std::string untried_words(const Options& options, const Plan& first, int ranks, const std::string& oversubscription,
                          const WhyThreadsShare& why_threads_share);

} // namespace a2aperf
