// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/option_table.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "support/catalogue.hpp"

using namespace a2aperf;

TEST_CASE("every name and alias is there once") {
    std::set<std::string_view> names{"config", "help", "help-all", "list", "version"};
    std::set<std::string_view> aliases{"-h"};
    for (const OptionRow& row : option_table()) {
        CAPTURE(row.name);
        CHECK(names.insert(row.name).second);
        if (!row.alias.empty()) CHECK(aliases.insert(row.alias).second);
        CHECK_FALSE(row.help.empty());
    }
}

TEST_CASE("an option is found by its name and its long alias") {
    CHECK(find_option("sizes")->name == "sizes");
    CHECK(find_option("domain")->name == "nic");
    CHECK(find_option("size") == nullptr);
    CHECK(find_option("") == nullptr);
    CHECK(spellings(*find_option("nic")) == "--nic,--domain");
    CHECK(spellings(*find_option("ops")) == "-i,--ops");
    CHECK(spellings(*find_option("sizes")) == "--sizes");
}

TEST_CASE("the example of every option is right, and a flag has none") {
    for (const OptionRow& row : option_table()) {
        CAPTURE(row.name);
        CHECK((row.arity == Arity::flag) == row.value.empty());
        CHECK((row.arity == Arity::flag) == row.example.empty());
        Options options;
        std::vector<std::string> values;
        if (row.arity != Arity::flag) values.emplace_back(row.example);
        CHECK_NOTHROW(row.set(options, values, test::catalogue()));
    }
}

TEST_CASE("ten options of alltoall are common ones, and eight of pairs") {
    const auto daily = [](Command command) {
        return std::count_if(option_table().begin(), option_table().end(), [&](const OptionRow& row) {
            return row.audience == Audience::daily && serves(row, command);
        });
    };
    CHECK(daily(Command::alltoall) == 10);
    CHECK(daily(Command::pairs) == 8);
    CHECK(daily(Command::providers) == 0);
}

TEST_CASE("every option serves a command that measures") {
    for (const OptionRow& row : option_table()) {
        CAPTURE(row.name);
        CHECK((serves(row, Command::alltoall) || serves(row, Command::pairs)));
    }
    CHECK_FALSE(serves(*find_option("window"), Command::pairs));
    CHECK_FALSE(serves(*find_option("steps"), Command::alltoall));
    CHECK(serves(*find_option("sizes"), Command::pairs));
}
