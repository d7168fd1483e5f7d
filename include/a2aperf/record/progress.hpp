// SPDX-License-Identifier: BSD-3-Clause
// Progress on stderr: one live line on a terminal, only what stays in a pipe or a file, nothing when quiet. Rank 0
// only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"
#include "a2aperf/record/time_left.hpp"

namespace a2aperf {

class Progress {
public:
    enum class Style { none, log, terminal };

    // log for pipes and files, terminal when stderr is one (TERM is not "dumb").
    static Style detect(bool is_quiet);

    // is_bound: points may end before all their ops.
    Progress(Style style, TimeLeft time_left, bool is_bound = false);
    ~Progress(); // leaves the terminal's line clean

    // All points together are to be through by then: that is the time left, instead of what the points tell.
    void end_at(Nanoseconds when) { end_ = when; }

    // place: in the order of measurement, the sentinels among them.
    void begin_point(std::size_t place, std::string_view label);
    // ops done of the expected number, the rate now; called between blocks of ops, prints at most 5 times a
    // second.
    void ops(int done, int expected, double gbps_rank);
    void end_point();
    void note(std::string_view line); // a line that stays
    // Before stdout is written to the same terminal.
    void clear();

private:
    void print(std::string_view line);
    std::string time_words(Nanoseconds now) const; // "12 s left"; empty where nothing is known
    Style style_;
    TimeLeft time_left_;
    std::optional<Nanoseconds> end_;
    bool is_bound_;
    std::size_t point_ = 0; // its number for people
    std::string label_;
    Nanoseconds last_print_ = 0;
    bool is_line_open_ = false;
};

} // namespace a2aperf
