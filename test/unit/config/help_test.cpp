// SPDX-License-Identifier: BSD-3-Clause
#include "config/help.hpp"

#include <regex>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "support/catalogue.hpp"

using namespace a2aperf;
using a2aperf::test::catalogue;

namespace {

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// Of UTF-8, every byte that does not continue a character.
std::size_t columns(const std::string& line) {
    std::size_t count = 0;
    for (const char c : line) count += (static_cast<unsigned char>(c) & 0xc0U) == 0x80U ? 0U : 1U;
    return count;
}

} // namespace

TEST_CASE("--help-all shows every option, --help the common ones") {
    for (const WorkloadRow* workload : catalogue().workloads) {
        CAPTURE(workload->name);
        const std::string all = help_all_text(catalogue(), *workload);
        const std::string daily = help_text(catalogue(), *workload);
        for (const OptionRow* option : all_options(catalogue())) {
            const OptionRow& row = *option;
            CAPTURE(row.name);
            // As the option's own entry begins; another one's words may name it too.
            const std::string entry = "\n  " + std::regex_replace(spellings(row), std::regex(","), ", ") +
                                      (row.value.empty()             ? ""
                                       : row.arity == Arity::perhaps ? " ["
                                                                     : " ") +
                                      std::string(row.value);
            CHECK(has(all, entry) == serves(row, *workload));
            if (row.audience == Audience::daily) CHECK(has(daily, entry) == serves(row, *workload));
        }
        for (const char* general : {"--config", "--help-all", "--list", "--version"}) CHECK(has(all, general));
        CHECK_FALSE(has(daily, "--ranks-per-node K"));
    }
}

TEST_CASE("the first workload's page is the program's: it has the usage of all commands") {
    for (const WorkloadRow* workload : catalogue().workloads) {
        const std::string usage = fmt::format("mpirun -n RANKS a2aperf {} [OPTION]...", workload->name);
        CHECK(has(help_text(catalogue(), alltoall().row()), usage));
        CHECK(has(help_text(catalogue(), pairs().row()), usage) == (workload == &pairs().row()));
    }
}

TEST_CASE("a default is the workload's own") {
    CHECK(has(help_text(catalogue(), alltoall().row()), "timed ops per point (default: 100)"));
    CHECK(has(help_text(catalogue(), pairs().row()), "timed ops per point (default: 10)"));
    CHECK(has(help_all_text(catalogue(), pairs().row()), "untimed ops before them (default: 2)"));
    CHECK(has(help_text(catalogue(), pairs().row()), "(default: 8,1MiB"));
}

TEST_CASE("a page fits a terminal and leaves no placeholder") {
    for (const std::string& page :
         {help_text(catalogue(), alltoall().row()), help_all_text(catalogue(), alltoall().row()),
          help_text(catalogue(), pairs().row()), help_all_text(catalogue(), pairs().row()), providers_help_text(),
          list_text(catalogue())}) {
        CHECK_FALSE(has(page, "{"));
        CHECK(page.ends_with('\n'));
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(columns(line) <= 90);
            CHECK_FALSE(line.ends_with(' '));
        }
    }
}

TEST_CASE("--list names everything there is, schedules with their formula") {
    const std::string list = list_text(catalogue());
    for (const std::string& name : catalogue().providers) CHECK(has(list, name));
    for (const std::string& name : catalogue().modes) CHECK(has(list, name));
    for (const Schedule& schedule : schedules()) {
        CHECK(has(list, schedule.name));
        CHECK(has(list, schedule.formula.substr(0, schedule.formula.find(' '))));
    }
}
