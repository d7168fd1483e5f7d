// SPDX-License-Identifier: BSD-3-Clause
// What agreeing on a clock costs and how good it is. Every rank claims a clock domain of its own though all read
// the machine's clock: the whole tree is measured, and since the true offset is 0 the true error is seen too.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/measure/clock_sync.hpp"

using namespace a2aperf;

namespace {

constexpr int kAgreements = 10;
constexpr int kResynchronisations = 5; // after each

class Row {
public:
    explicit Row(const char* name) : name_(name) {}
    void add(Nanoseconds value) { values_.push_back(value); }
    void print() {
        std::ranges::sort(values_);
        fmt::print("{:<28} {:>5} {:>12} {:>12} {:>12}\n", name_, values_.size(), format_duration(values_.front()),
                   format_duration(values_[values_.size() / 2]), format_duration(values_.back()));
    }

private:
    const char* name_;
    std::vector<Nanoseconds> values_;
};

} // namespace

int main(int argc, char** argv) {
    Job job(argc, argv, {});
    const LocalClock clock{"rank " + std::to_string(job.rank()), now_ns};
    Row agreement_cost("agreement takes");
    Row resynchronisation_cost("resynchronisation takes");
    Row bound("error bound");
    Row error("largest true error");

    for (int i = 0; i < kAgreements; ++i) {
        job.barrier();
        Nanoseconds begin = now_ns();
        ClockAgreement agreement = agree_on_clock(job, clock);
        agreement_cost.add(job.max(now_ns() - begin));
        for (int turn = 0; turn < kResynchronisations; ++turn) {
            begin = now_ns();
            error.add(job.max(std::abs(agreement.mine.since(begin, begin))));
            begin = now_ns();
            resynchronise(job, agreement, clock);
            resynchronisation_cost.add(job.max(now_ns() - begin));
        }
        bound.add(std::llrint(agreement.error_ns));
    }

    if (!job.is_root()) return 0;
    fmt::print("{} ranks, as many clock domains\n{:<28} {:>5} {:>12} {:>12} {:>12}\n", job.ranks(), "", "n", "min",
               "median", "max");
    for (Row* row : {&agreement_cost, &resynchronisation_cost, &bound, &error}) row->print();
    return 0;
}
