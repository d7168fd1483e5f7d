// SPDX-License-Identifier: BSD-3-Clause
// Progress on stderr: one live line on a terminal, sparse lines in a log, nothing when quiet. Rank 0 only.
#pragma once

#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class Progress {
public:
    enum class Style { none, log, terminal };

    // log for pipes and files, terminal when stderr is one (TERM is not "dumb").
    static Style detect(bool is_quiet);

    Progress(Style style, int points_total);
    ~Progress(); // leaves the terminal's line clean

    void begin_point(int done, std::string_view label);
    // ops done of the expected number, the rate now; called between blocks of ops, prints at most 5 times a
    // second on a terminal and every 10 s in a log. Time left is estimated from the cost of the points so far
    // weighted with their message size.
    void ops(int done, int expected, double gbps_rank);
    void end_point(Bytes message_size, Nanoseconds duration, Bytes bytes_left);
    void note(std::string_view line); // a line that stays
    // Before stdout is written to the same terminal.
    void clear();

private:
    void print(std::string_view line);
    Style style_;
    int points_total_;
    int points_done_ = 0;
    std::string label_;
    Nanoseconds last_print_ = 0;
    Nanoseconds time_left_ = -1;
    double weight_done_ = 0;
    Nanoseconds time_done_ = 0;
    bool is_line_open_ = false;
};

} // namespace a2aperf
