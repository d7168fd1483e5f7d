// SPDX-License-Identifier: BSD-3-Clause
// What a search found, for people and as a file for --config. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/stats/paired_ratio.hpp"

namespace a2aperf {

// At one message size. Figures are of the ops that were made to compare the two, never of those that chose.
struct Found {
    Point usual;                          // the default setting, or the first that can be measured where that can't
    Point best;                           // the same where none was faster
    double usual_gbps = 0, best_gbps = 0; // per rank; NaN = no valid op
    std::size_t ops = 0;                  // valid ones, of the side that has fewer
    PairedRatio times{};                  // as fast as the usual one; without a unit where both are the same

    bool is_usual() const;
    bool is_faster() const { return !is_usual() && times.verdict() == Verdict::faster; }
};

// "write-imm shift window all"
std::string setting_of(const Point& point);

std::string search_table(std::span<const Found> found);

// "write-imm shift window all was faster at 3 of 4 sizes; …"
std::vector<std::string> search_words(std::span<const Found> found);

// The setting that was found faster at most sizes (of as many, at the larger ones), with those sizes; the default
// setting with all of them where none was. Other findings are in its comments.
// usual: how the launch polled where a point has no way of its own.
std::string search_config(std::span<const Found> found, const std::string& provider, const std::string& results,
                          const PollingWay& usual);

} // namespace a2aperf
