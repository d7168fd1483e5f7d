// SPDX-License-Identifier: BSD-3-Clause
// Which call of which rank is to go wrong, and how: told by one variable, found by counting. Nothing here
// allocates: allocation is one of the calls.
#pragma once

#include <cstddef>
#include <string_view>

namespace faults {

// A2APERF_TEST_FAULT="call=pwrite do=ENOSPC nth=3 count=1 rank=0 path=a.h5 above=1000"
//   call   what goes wrong; the libraries beside this file say what there is
//   do     how: a name of errno, or a word that the call knows, with a number behind a colon (late:50)
//   nth    from which call on, 1 (the first) unless told; count: how many of them, 1 unless told
//   rank   in which rank; in all unless told
//   path   only files whose path ends so; above: only that many bytes or more
// A call with more to it, such as a size, counts only where that fits.
struct Plan {
    std::string_view call, action, path;
    long nth = 1, count = 1, rank = -1, above = 0;
    long number = 0;      // behind the action's colon
    int error = 0;        // the action's, when it is one
    bool is_here = false; // in this rank
};

const Plan& plan();

// SIGSTOP, SIGKILL, SIGTERM of "stop", "kill", "term"; 0 of other words.
int signal_of(std::string_view action);

// Whether this call is one that goes wrong; counts it when it is of the plan's name.
bool strikes(std::string_view call);

// A line of the file that the test reads: rank, what, number.
void note(const char* what, long number);

} // namespace faults
