// SPDX-License-Identifier: BSD-3-Clause
// The command line of pairs; what it measures is tried where ranks are (test/fabric/test_pairs.py).
#include <fstream>

#include <doctest/doctest.h>

#include "a2aperf/config/command_line.hpp"
#include "app/pair_options.hpp"
#include "support/arguments.hpp"
#include "support/temporary_folder.hpp"
#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::is_one_clear_line;
using a2aperf::test::parse_alltoall;
using a2aperf::test::refusal;

namespace {

using Words = std::vector<std::string>;

Options parse_pairs(const Words& words) {
    return test::parse_options("pairs", words);
}

struct Refused {
    Words words;
    const char* says;
};

} // namespace

TEST_CASE("the options that pairs alone has reach their place") {
    CHECK(pair_options(parse_pairs({"--steps", "64"})).steps == 64);
    CHECK(pair_options(parse_pairs({"--suspects", "0"})).suspects == 0);
    CHECK(pairs().row().options.size() == 2); // a third one is to be tried here
}

TEST_CASE("a --config file sets them too") {
    const test::TemporaryFolder folder;
    const std::string file = (folder / "pairs.toml").string();
    std::ofstream(file) << "steps = 4\nsuspects = 0\n";
    CHECK(pair_options(parse_pairs({"--config", file})).steps == 4);
    CHECK(pair_options(parse_pairs({"--config", file, "--steps", "5"})).steps == 5);
    CHECK(pair_options(parse_pairs({"--config", file})).suspects == 0);
    CHECK(refusal([&] { parse_alltoall({"--config", file}); }).ends_with("is not an option of a2aperf alltoall"));
}

TEST_CASE("pairs without options: two sizes, all steps, 10 ops") {
    const Options options = parse_pairs({});
    CHECK(options.workload == "pairs");
    CHECK(options.sizes == std::vector<Bytes>{8, 1 << 20});
    CHECK(options.modes == Words{"tagged"});
    CHECK(options.ops == 10);
    CHECK(options.warmup == 2);
    CHECK_FALSE(pair_options(options).steps);
    CHECK(pair_options(options).suspects == 16);
    CHECK(parse_pairs({"--sizes", "1KiB"}).sizes == std::vector<Bytes>{1024});
}

TEST_CASE("what makes no sense with pairs is refused, and what is pairs' own elsewhere") {
    const Refused refused[] = {
        {{"--window", "4"},
         "--window is not an option of a2aperf pairs: a2aperf pairs --help-all shows its options"},
        {{"--schedule=xor"}, "--schedule is not an option of a2aperf pairs"},
        {{"--baseline", "mpi"}, "--baseline is not an option of a2aperf pairs"},
        {{"--precision", "1%"}, "--precision is not an option of a2aperf pairs"},
        {{"--mode", "tagged,write-imm"}, "--mode: pairs takes one mode: tagged here"},
        {{"--format", "wide"}, "--format: for pairs expected one of table, csv, json"},
        {{"--steps", "0"}, "--steps: '0' is not a whole number from 1"},
        {{"--suspects", "-1"}, "--suspects: '-1' is not a whole number from 0"},
        {{"--ranks", "4"}, "--ranks needs --dry-run"},
    };
    for (const Refused& one : refused) {
        CAPTURE(one.says);
        const std::string line = refusal([&] { parse_pairs(one.words); });
        CAPTURE(line);
        CHECK(line.find(one.says) != std::string::npos);
        CHECK(is_one_clear_line(line));
    }
    CHECK(refusal([] {
              parse_alltoall({"--steps", "4"});
          }).starts_with("--steps is not an option of a2aperf alltoall"));
}
