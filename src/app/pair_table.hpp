// SPDX-License-Identifier: BSD-3-Clause
// What became of the pairs, as text. table: a line for every message size, the matrix where there are few ranks,
// and what stands out, in words; csv, json: a pair to a line, times in ns; unknown figures are empty or null.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/record/table.hpp"
#include "a2aperf/stats/pair_model.hpp"

namespace a2aperf {

// One message size.
struct PairReport {
    Bytes message_size;
    PairVerdict verdict;
    std::vector<double> isolated; // parallel to verdict.suspects: ns with all others idle; NaN = not measured so
};

struct PairFacts {
    std::string provider;
    int ops;
    std::string start;              // what starts an op, and what that does to a time
    std::string oversubscription{}; // plan/oversubscription.hpp; nobody is then called slow
};

class PairTable {
public:
    // hosts: [R]
    PairTable(const Layout& layout, std::vector<std::string> hosts, PairFacts facts)
        : layout_(layout), hosts_(std::move(hosts)), facts_(std::move(facts)) {}

    // format: table, csv or json.
    std::string text(Format format, const std::vector<PairReport>& sizes) const;

private:
    std::string who(Rank rank) const; // "rank 3 (node017)"
    std::string words(const PairReport& report, std::size_t suspect) const;
    std::string summary_row(const PairReport& report) const;
    std::string matrix(const PairReport& report) const;
    std::string table(const std::vector<PairReport>& sizes) const;
    std::string records(Format format, const std::vector<PairReport>& sizes) const;

    Layout layout_;
    std::vector<std::string> hosts_;
    PairFacts facts_;
};

} // namespace a2aperf
