// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/option_table.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "support/catalogue.hpp"

using namespace a2aperf;
using a2aperf::test::catalogue;
using a2aperf::test::find;

TEST_CASE("every name and alias is there once") {
    std::set<std::string_view> names{"config", "help", "help-all", "list", "version"};
    std::set<std::string_view> aliases{"-h"};
    for (const OptionRow* row : all_options(catalogue())) {
        CAPTURE(row->name);
        CHECK(names.insert(row->name).second);
        if (!row->alias.empty()) CHECK(aliases.insert(row->alias).second);
        CHECK_FALSE(row->help.empty());
    }
}

TEST_CASE("an option is found by its name and its long alias") {
    CHECK(find("sizes").name == "sizes");
    CHECK(find("domain").name == "nic");
    CHECK(find_option("size", catalogue()) == nullptr);
    CHECK(find_option("", catalogue()) == nullptr);
    CHECK(spellings(find("nic")) == "--nic,--domain");
    CHECK(spellings(find("ops")) == "-i,--ops");
    CHECK(spellings(find("sizes")) == "--sizes");
}

TEST_CASE("the example of every option is right, and a flag has none") {
    for (const WorkloadRow* workload : catalogue().workloads)
        for (const OptionRow* row : options_of(*workload)) {
            CAPTURE(row->name);
            CHECK((row->arity == Arity::flag) == row->value.empty());
            CHECK((row->arity == Arity::flag) == row->example.empty());
            Options options = default_options(*workload);
            std::vector<std::string> values;
            if (row->arity != Arity::flag) values.emplace_back(row->example);
            CHECK_NOTHROW(row->set(options, values, catalogue()));
        }
}

TEST_CASE("ten options of alltoall are common ones, and eight of pairs") {
    const auto daily = [](const WorkloadRow& workload) {
        const auto rows = options_of(workload);
        return std::count_if(rows.begin(), rows.end(),
                             [](const OptionRow* row) { return row->audience == Audience::daily; });
    };
    CHECK(daily(alltoall().row()) == 10);
    CHECK(daily(pairs().row()) == 8);
}

TEST_CASE("every option serves a workload, and what a workload takes is in the table") {
    const Catalogue all = catalogue();
    for (const OptionRow* row : all_options(all)) {
        CAPTURE(row->name);
        CHECK(std::any_of(all.workloads.begin(), all.workloads.end(),
                          [&](const WorkloadRow* workload) { return serves(*row, *workload); }));
    }
    for (const WorkloadRow* workload : all.workloads)
        for (const std::string_view name : workload->takes) {
            CAPTURE(name);
            CHECK(find(name).serves == Serves::some);
        }
    CHECK_FALSE(serves(find("window"), pairs().row()));
    CHECK_FALSE(serves(find("steps"), alltoall().row()));
    CHECK(serves(find("sizes"), pairs().row()));
}

TEST_CASE("a workload's own options stand among the others of their section") {
    const auto rows = options_of(pairs().row());
    CHECK(std::is_sorted(rows.begin(), rows.end(),
                         [](const OptionRow* a, const OptionRow* b) { return a->section < b->section; }));
}
