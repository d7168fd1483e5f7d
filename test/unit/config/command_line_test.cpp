// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/command_line.hpp"

#include <optional>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/config/option_table.hpp"
#include "app/workload.hpp"
#include "support/arguments.hpp"
#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::is_one_clear_line;
using a2aperf::test::parse;
using a2aperf::test::parse_alltoall;
using a2aperf::test::refusal;

namespace {

using Words = std::vector<std::string>;
using Polls = std::vector<std::optional<PollingWay>>;

std::string as_typed(const Words& words) {
    std::string line;
    for (const std::string& word : words) line += word + ' ';
    return line;
}

struct Accepted {
    const char* option; // the row of the option table that it is about
    Words words;
    bool (*holds)(const Options& options);
};

const Accepted kAccepted[] = {
    {"provider", {"--provider", "tcp;ofi_rxm"}, [](const Options& o) { return o.provider == "tcp;ofi_rxm"; }},
    {"nic", {"--nic", "mlx5_0"}, [](const Options& o) { return o.nic == "mlx5_0"; }},
    {"nic", {"--domain=mlx5_1"}, [](const Options& o) { return o.nic == "mlx5_1"; }},
    {"nic", {"--nic", "0:a,1:b"}, [](const Options& o) { return o.nic == "0:a,1:b"; }},
    {"link-rate", {"--link-rate", "200Mbit/s"}, [](const Options& o) { return o.link_rate == 0.2; }},
    {"sizes",
     {"--sizes", "1KiB..4KiB*2,8000"},
     [](const Options& o) {
         return o.sizes == std::vector<Bytes>{1024, 2048, 4096, 8000};
     }},
    {"sizes",
     {"--sizes", "8", "--sizes=16"},
     [](const Options& o) {
         return o.sizes == std::vector<Bytes>{8, 16};
     }},
    {"message-size",
     {"-m", "4:16"},
     [](const Options& o) {
         return o.sizes == std::vector<Bytes>{4, 8, 16};
     }},
    {"message-size",
     {"--message-size", "2"},
     [](const Options& o) {
         return o.sizes == std::vector<Bytes>{1, 2};
     }},
    {"mode",
     {"--mode", "write-imm,tagged"},
     [](const Options& o) {
         return o.modes == Words{"write-imm", "tagged"};
     }},
    {"mode",
     {"--mode", "write-imm", "--mode", "tagged"},
     [](const Options& o) {
         return o.modes == Words{"write-imm", "tagged"};
     }},
    {"schedule",
     {"--schedule", "xor,naive"},
     [](const Options& o) { return o.schedules.size() == 2 && o.schedules[1]->name == "naive"; }},
    {"window",
     {"--window", "4,all,256KiB"},
     [](const Options& o) {
         return o.windows == std::vector<Window>{{4, 0}, {}, {0, 262'144}};
     }},
    {"order", {"--order", "shuffled"}, [](const Options& o) { return o.order == Order::shuffled; }},
    {"seed", {"--seed", "18446744073709551615"}, [](const Options& o) { return o.seed == ~std::uint64_t{0}; }},
    {"shuffle-ranks", {"--shuffle-ranks"}, [](const Options& o) { return o.shuffle_ranks; }},
    {"baseline", {"--baseline", "mpi"}, [](const Options& o) { return o.with_mpi_baseline; }},
    {"baseline", {"--baseline", "none"}, [](const Options& o) { return !o.with_mpi_baseline; }},
    {"ops", {"--ops", "7"}, [](const Options& o) { return o.ops == 7; }},
    {"ops", {"-i", "7"}, [](const Options& o) { return o.ops == 7; }},
    {"ops", {"-i7"}, [](const Options& o) { return o.ops == 7; }},
    {"warmup", {"-x", "0"}, [](const Options& o) { return o.warmup == 0; }},
    {"precision", {"--precision", "1%"}, [](const Options& o) { return o.precision == 0.01; }},
    {"min-ops", {"--precision", "1%", "--min-ops", "50"}, [](const Options& o) { return o.min_ops == 50; }},
    {"max-ops", {"--precision", "1%", "--max-ops", "50"}, [](const Options& o) { return o.max_ops == 50; }},
    {"time-budget", {"--time-budget", "500ms"}, [](const Options& o) { return o.time_budget == 500'000'000; }},
    {"sync", {"--sync", "clock"}, [](const Options& o) { return o.sync == Sync::clock; }},
    {"sync", {"--sync", "barrier"}, [](const Options& o) { return o.sync == Sync::barrier; }},
    {"sync", {"--sync", "auto"}, [](const Options& o) { return o.sync == Sync::automatic; }},
    {"sync",
     {"--sync", "none"},
     [](const Options& o) { return o.sync == Sync::none && o.post == Post::inside && !o.with_sentinel; }},
    {"post", {"--post", "inside"}, [](const Options& o) { return o.post == Post::inside; }},
    {"complete-at",
     {"--complete-at", "sender"},
     [](const Options& o) { return o.complete_at == CompleteAt::sender; }},
    {"percentile",
     {"--percentile", "index"},
     [](const Options& o) { return o.percentile == PercentileRule::index; }},
    {"poll", {"--poll", "spin"}, [](const Options& o) { return o.polls == Polls{PollingWay{Polling::spin}}; }},
    {"poll", {"--poll", "yield"}, [](const Options& o) { return o.polls == Polls{PollingWay{Polling::yield}}; }},
    {"poll", {"--poll", "block"}, [](const Options& o) { return o.polls == Polls{PollingWay{Polling::block}}; }},
    {"poll",
     {"--poll", "throttle=16"},
     [](const Options& o) {
         return o.polls == Polls{PollingWay{Polling::throttle, 16}};
     }},
    {"poll",
     {"--poll", "spin,throttle=16"},
     [](const Options& o) {
         return o.polls == Polls{PollingWay{Polling::spin}, PollingWay{Polling::throttle, 16}};
     }},
    {"memory",
     {"--memory", "huge"},
     [](const Options& o) { return o.memories == std::vector<std::string>{"huge"}; }},
    {"memory-limit", {"--memory-limit", "4GiB"}, [](const Options& o) { return o.memory_limit == 4ULL << 30; }},
    {"timeout", {"--timeout", "5s"}, [](const Options& o) { return o.timeout == 5'000'000'000; }},
    {"trace", {"--trace"}, [](const Options& o) { return o.traces; }},
    {"verify-only", {"--verify-only"}, [](const Options& o) { return o.verify_only; }},
    {"no-sentinel", {"--no-sentinel"}, [](const Options& o) { return !o.with_sentinel; }},
    {"require",
     {"--require", "A=1", "--require", "B="},
     [](const Options& o) {
         return o.required_environment.size() == 2 && o.required_environment[1].second.empty();
     }},
    {"output", {"-o", "a b.h5"}, [](const Options& o) { return o.output == "a b.h5"; }},
    {"resume", {"--resume", "-o", "a.h5"}, [](const Options& o) { return o.overwrite == Overwrite::resume; }},
    {"force", {"--force"}, [](const Options& o) { return o.overwrite == Overwrite::force; }},
    {"attach",
     {"--attach", "a b.txt", "--attach", "c.txt"},
     [](const Options& o) { return o.attachments.size() == 2 && o.attachments[0] == "a b.txt"; }},
    {"node-facts", {"--node-facts", "/etc/cables"}, [](const Options& o) { return o.site_facts == "/etc/cables"; }},
    {"label",
     {"--label", "note=a, b=c"},
     [](const Options& o) { return o.labels.size() == 1 && o.labels[0].second == "a, b=c"; }},
    {"format", {"--format", "compat"}, [](const Options& o) { return o.format == Format::compat; }},
    {"quiet", {"-q"}, [](const Options& o) { return o.is_quiet; }},
    {"dry-run", {"--dry-run"}, [](const Options& o) { return o.is_dry_run; }},
    {"ranks", {"--dry-run", "--ranks", "320"}, [](const Options& o) { return o.ranks == 320; }},
    {"ranks-per-node",
     {"--dry-run", "--ranks", "8", "--ranks-per-node", "4"},
     [](const Options& o) { return o.ranks_per_node == 4; }},
};

struct Refused {
    Words words;
    const char* says; // part of the line
};

const Refused kRefused[] = {
    {{"--provider", "tpc"}, "--provider: unknown provider 'tpc': expected one of auto, shm, tcp"},
    {{"--mode", "taged"}, "--mode: unknown mode 'taged': expected one of tagged, msg, write-imm, read, write"},
    {{"--schedule", "shfit"}, "--schedule: unknown schedule 'shfit': expected one of shift, xor"},
    {{"--sizes", "0"}, "zero"},
    {{"--sizes", "-8"}, "--sizes: "},
    {{"--sizes", "99999999999999999999"}, "--sizes: "},
    {{"--sizes", "9000000000GiB"}, "--sizes: "},
    {{"--sizes", "2000..1000+100"}, "reversed"},
    {{"--sizes", "1000..2000+0"}, "step of 0"},
    {{"--sizes", "1..8*1"}, "factor"},
    {{"--sizes", "8 parsecs"}, "--sizes: "},
    {{"--sizes", "8kbit"}, "--sizes: "},
    {{"--sizes", "1.5"}, "--sizes: "},
    {{"--sizes", "8,,16"}, "empty item"},
    {{"--sizes", ""}, "--sizes: "},
    {{"-m", "16:4"}, "reversed"},
    {{"-m", "4", "--sizes", "8"}, "exclude each other"},
    {{"--sizes"}, "--sizes needs LIST, for example --sizes 1KiB..4MiB*2"},
    {{"--sizes", "--ops"}, "--sizes needs LIST, but '--ops' follows it"},
    {{"-o"}, "needs FILE"},
    {{"--output", ""}, "--output: "},
    {{"--window", "0"}, "--window: "},
    {{"--window", "many"}, "neither 'all' nor a whole number of messages nor a size such as 256KiB"},
    {{"--window", "0KiB"}, "--window: '0KiB' is not a size above zero"},
    {{"--order", "random"}, "expected one of declared, shuffled"},
    {{"--seed", "-1"}, "--seed: '-1'"},
    {{"--baseline", "nccl"}, "expected one of none, mpi"},
    {{"--ops", "0"}, "--ops: '0' is not a whole number from 1"},
    {{"--ops", "ten"}, "--ops: 'ten'"},
    {{"--ops", "10", "--ops", "20"}, "--ops is given twice"},
    {{"-i", "-5"}, "--ops: '-5'"},
    {{"-x", "-1"}, "--warmup: '-1'"},
    {{"--precision", "0%"}, "--precision: '0%' is not a share"},
    {{"--precision", "1%", "--ops", "10"}, "exclude each other"},
    {{"--precision", "1%", "--min-ops", "50", "--max-ops", "40"}, "--min-ops 50 is greater than --max-ops 40"},
    {{"--min-ops", "50"}, "--min-ops needs --precision"},
    {{"--max-ops", "50"}, "--max-ops needs --precision"},
    {{"--time-budget", "0"}, "--time-budget: '0'"},
    {{"--timeout", "soon"}, "--timeout: "},
    {{"--timeout", "-5s"}, "--timeout: "},
    {{"--sync", "clocks"}, "did you mean clock?"},
    {{"--sync", "none", "--baseline", "mpi"}, "--sync none and --baseline exclude each other"},
    {{"--sync", "none", "--trace"}, "--sync none and --trace exclude each other"},
    {{"--sync", "none", "--search", "9s"}, "--sync none and --search exclude each other"},
    {{"--sync", "none", "--post", "before"}, "use --post inside"},
    {{"--baseline", "mpi", "--post", "before"}, "MPI posts its receives inside the op"},
    {{"--post", "after"}, "expected one of before, inside"},
    {{"--complete-at", "both"}, "expected one of receiver, sender"},
    {{"--percentile", "99"}, "expected one of rank, index"},
    {{"--poll", "wait"}, "expected one of auto, spin, yield, block, throttle=N"},
    {{"--poll", "throttle"}, "expected one of auto, spin, yield, block, throttle=N"},
    {{"--poll", "spin,auto"},
     "--poll: of several each is spin, yield or throttle=N, and auto is for a launch of its own"},
    {{"--poll", "yield,block"}, "and block is for a launch of its own"},
    {{"--poll", "throttle=0"}, "--poll: '0' is not a whole number from 1 to 1000"},
    {{"--poll", "throttle=N"}, "--poll: 'N' is not a whole number from 1 to 1000"},
    {{"--poll", "throttle=1001"}, "--poll: '1001' is not a whole number from 1 to 1000"},
    {{"--memory", "shared"}, "expected one of default, huge"},
    {{"--memory", "huge,shared"}, "expected one of default, huge"},
    {{"--memory", "huge,default,huge"}, "--memory: alltoall takes one kind: huge here, and another launch"},
    {{"--memory-limit", "0"}, "--memory-limit: "},
    {{"--memory-limit", "lots"}, "--memory-limit: "},
    {{"--require", "PSM2_RCVTHREAD"}, "is not NAME=VALUE"},
    {{"--label", "a=1", "--label", "a=2"}, "--label: 'a' is given twice"},
    {{"--label", "a"}, "is not NAME=VALUE"},
    {{"--format", "xml"}, "expected one of table, wide, compat, csv, json"},
    {{"--resume"}, "--resume needs --output FILE"},
    {{"--verify-only", "-o", "a.h5"}, "--output: --verify-only measures nothing"},
    {{"--verify-only", "--label", "a=1"}, "--label: --verify-only measures nothing"},
    {{"--resume", "--force", "-o", "a.h5"}, "exclude each other"},
    {{"--ranks", "4"}, "--ranks needs --dry-run"},
    {{"--ranks-per-node", "4"}, "--ranks-per-node needs --dry-run"},
    {{"--dry-run", "--ranks", "0"}, "--ranks: '0' is not a whole number from 1"},
    {{"--dry-run", "--ranks", "2", "--ranks-per-node", "4"}, "--ranks-per-node 4 is greater than --ranks 2"},
    {{"--dry-run=maybe"}, "--dry-run takes no value"},
    {{"--link-rate", "0"},
     "--link-rate: '0' is not a rate above zero, up to 1000000 Gbit/s: write for example 100"},
    {{"--link-rate", "100GB/s"}, "--link-rate: '100GB/s' is not a rate"},
    {{"--nic", "0:"}, "--nic: '0:' is not RANK:NIC"},
    {{"--szies", "8"}, "unknown option '--szies' (did you mean --sizes?): --help-all shows all options"},
    {{"--szies=8"}, "unknown option '--szies' (did you mean --sizes?)"},
    {{"--iterations", "8"}, "unknown option '--iterations' (did you mean --ops?)"},
    {{"--iters=8"}, "unknown option '--iters' (did you mean --ops?)"},
    {{"--msg-size", "8"}, "unknown option '--msg-size' (did you mean --sizes?)"},
    {{"-n", "8"}, "unknown option '-n' (did you mean --ops?)"},
    {{"-z"}, "unknown option '-z'"},
    {{"60000"}, "unexpected argument '60000'"},
    {{"--config", "/no/such/file"}, "cannot read '/no/such/file': No such file or directory"},
    {{"--config"}, "--config needs a value"},
};

} // namespace

TEST_CASE("every option reaches its place") {
    for (const Accepted& accepted : kAccepted) {
        CAPTURE(accepted.option);
        CAPTURE(as_typed(accepted.words));
        CHECK(accepted.holds(parse_alltoall(accepted.words)));
    }
}

// Those that a workload alone has are tried in its own test.
TEST_CASE("every option of the table is tried") {
    std::set<std::string_view> tried;
    for (const Accepted& accepted : kAccepted) tried.insert(accepted.option);
    for (const OptionRow* row : all_options(Catalogue{})) {
        CAPTURE(row->name);
        CHECK(tried.contains(row->name));
    }
}

TEST_CASE("what is wrong is refused with one clear line") {
    for (const Refused& refused : kRefused) {
        CAPTURE(as_typed(refused.words));
        const std::string line = refusal([&] { parse_alltoall(refused.words); });
        CAPTURE(line);
        CHECK(line.find(refused.says) != std::string::npos);
        CHECK(is_one_clear_line(line));
    }
}

TEST_CASE("without options it is the main job of the issue: 24 sizes, shift, tagged, 100 ops") {
    const Options options = parse_alltoall({});
    CHECK(options.workload == "alltoall");
    CHECK(options.sizes.size() == 24);
    CHECK(options.sizes.front() == 1000);
    CHECK(options.sizes.back() == 60000);
    CHECK(options.modes == Words{"tagged"});
    REQUIRE(options.schedules.size() == 1);
    CHECK(options.schedules[0]->name == "shift");
    CHECK(options.windows == std::vector<Window>{{}});
    CHECK(options.ops == 100);
    CHECK(options.provider == "auto");
    CHECK_FALSE(options.output);
    CHECK(options.command_line == "a2aperf alltoall");
}

TEST_CASE("the command line is kept as typed") {
    CHECK(parse_alltoall({"--label", "note=two words"}).command_line ==
          "a2aperf alltoall --label 'note=two words'");
}

TEST_CASE("questions are answered, whatever else is typed") {
    CHECK(parse({}).answer);
    for (const Words& words :
         {Words{"--help"}, Words{"-h"}, Words{"--help-all"}, Words{"--version"}, Words{"--list"},
          Words{"alltoall", "--help"}, Words{"alltoall", "--ops", "0", "--help"},
          Words{"alltoall", "--nonsense", "--help"}, Words{"alltoall", "--list"}, Words{"pairs", "--help"},
          Words{"pairs", "--help-all"}, Words{"providers", "--help"}, Words{"providers", "--version"}}) {
        CAPTURE(as_typed(words));
        const auto answer = parse(words).answer;
        REQUIRE(answer);
        CHECK(answer->ends_with('\n'));
    }
    CHECK(parse({"--version"}).answer->starts_with("a2aperf "));
    CHECK(parse({"providers", "--help"}).answer != parse({"alltoall", "--help"}).answer);
}

TEST_CASE("providers takes no options of alltoall") {
    CHECK_FALSE(parse({"alltoall"}).providers);
    CHECK(parse({"providers"}).providers == ProvidersPage::table);
    CHECK(parse({"providers", "-v"}).providers == ProvidersPage::details);
    CHECK(parse({"providers", "--verbose"}).providers == ProvidersPage::details);
    CHECK(parse({"providers", "--variables"}).providers == ProvidersPage::variables);
    CHECK(refusal([] {
              parse({"providers", "-v", "--variables"});
          }) == "--verbose and --variables exclude each other");
    CHECK(refusal([] { parse({"alltoall", "--verbose"}); }).starts_with("unknown option '--verbose'"));
    CHECK(refusal([] { parse({"providers", "--ops", "3"}); }).starts_with("unknown option '--ops'"));
}

TEST_CASE("a command is needed, and a known one") {
    std::string names;
    std::string purposes;
    for (const WorkloadRow* row : workload_rows()) {
        names += fmt::format("{}, ", row->name);
        purposes += fmt::format("{} ({}), ", row->name, row->purpose);
    }
    CHECK(names.starts_with("alltoall, pairs, "));
    CHECK(refusal([] { parse({"alltoal"}); }) ==
          fmt::format("unknown command 'alltoal': expected one of {}providers (did you mean alltoall?)", names));
    CHECK(refusal([] {
              parse({"suite", "--across", "shm"});
          }) == "suite is a command of a2a, not of a2aperf: a2a suite");
    CHECK(refusal([] {
              parse({"--ops", "3"});
          }) == fmt::format("no command: expected one of {}providers (shows what this node offers)", purposes));
}
