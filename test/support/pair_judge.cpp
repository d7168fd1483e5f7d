// SPDX-License-Identifier: BSD-3-Clause
// What the program's closing words take of matrices of pair times: each is read from stdin, its ranks R and R x R
// times of which 0 is none, by source; written is a line of JSON.
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/stats/pair_model.hpp"

namespace {

using namespace a2aperf;

std::string_view name_of(Weakness weakness) {
    if (weakness == Weakness::sender) return "sender";
    return weakness == Weakness::receiver ? "receiver" : "pair";
}

// As a2a names it: -1 where it has no such end.
std::string json_of(const Suspect& suspect) {
    const Rank source = suspect.weakness == Weakness::receiver ? -1 : suspect.pair.source;
    const Rank destination = suspect.weakness == Weakness::sender ? -1 : suspect.pair.destination;
    return fmt::format(R"(["{}", {}, {}, {}])", name_of(suspect.weakness), source, destination, suspect.share);
}

std::string judged(const std::vector<PairTime>& pairs, int ranks) {
    const PairModel model = fit_pairs(pairs, ranks);
    std::vector<std::string> suspects;
    for (const Suspect& suspect : judge_pairs(pairs, Layout::blocks(ranks, 1)).suspects)
        suspects.push_back(json_of(suspect));
    return fmt::format(R"({{"overall": {}, "sender": [{}], "receiver": [{}], "suspects": [{}]}})", model.overall,
                       fmt::join(model.sender, ", "), fmt::join(model.receiver, ", "), fmt::join(suspects, ", "));
}

} // namespace

int main() {
    for (int ranks = 0; std::cin >> ranks;) {
        std::vector<PairTime> pairs;
        for (Rank source = 0; source < ranks; ++source)
            for (Rank destination = 0; destination < ranks; ++destination) {
                double time = 0;
                std::cin >> time;
                if (time > 0) pairs.push_back({source, destination, 10, time, time});
            }
        std::printf("%s\n", judged(pairs, ranks).c_str());
    }
    return 0;
}
