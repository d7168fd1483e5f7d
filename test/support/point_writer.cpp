// SPDX-License-Identifier: BSD-3-Clause
// Writes a results file of synthetic points with the real Recorder and tells on stdout where it is: "creating",
// "ready", "writing 3", "done 3", "ending", "ended". What is "done" must outlive any end of this process.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/record/recorder.hpp"
#include "schema.hpp"
#include "synthetic.hpp"

namespace {

using namespace a2aperf;

constexpr const char* kUsage =
    "usage: point-writer FILE [points=24] [ranks=4] [nodes=1] [ops=100] [first_size=1000] [resume=0] [force=0]\n"
    "                    [step=0] [stop_after=points] [end=1|2|3|0] [failed=0]\n"
    "step=1: after \"ready\" and every \"done\" it waits for a line on stdin.\n"
    "failed=1: no op of any point is valid.\n";

void tell(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

void wait_for_line() {
    for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
}

int run(const std::filesystem::path& file, std::map<std::string, int> options) {
    const Layout layout =
        Layout::blocks(options["ranks"], (options["ranks"] + options["nodes"] - 1) / options["nodes"]);
    const Plan plan = test::synthetic_plan(options["points"], static_cast<Bytes>(options["first_size"]));
    const Provenance provenance = test::synthetic_provenance(layout);
    RecorderSettings settings;
    settings.file = file;
    settings.max_attempts = options["ops"];
    settings.provider = "tcp;ofi_rxm";
    settings.schema = test::kSchema;
    settings.may_replace = options["force"] != 0;
    check_output(file, options["resume"] != 0, options["force"] != 0, settings.schema);

    const bool is_resumed = options["resume"] != 0 && std::filesystem::exists(file);
    tell(is_resumed ? "resuming" : "creating");
    Recorder recorder = is_resumed ? Recorder::resume(settings, plan, layout, provenance)
                                   : Recorder::create(settings, plan, layout, provenance);
    tell("ready");
    if (options["step"] != 0) wait_for_line();
    int written = 0;
    for (int p = 0; p < options["points"] && written < options["stop_after"]; ++p) {
        if (plan.points[static_cast<std::size_t>(p)].is_skipped() || recorder.is_complete(p)) continue;
        const int attempts = test::synthetic_attempts(p, options["ops"]);
        const PointResult result =
            test::synthetic_result(p, plan, layout, attempts, provenance, options["failed"] == 0);
        tell(fmt::format("writing {}", p));
        recorder.write(p, result);
        tell(fmt::format("done {}", p));
        if (options["step"] != 0) wait_for_line();
        ++written;
    }
    tell("ending");
    const auto complaint = recorder.end(static_cast<EndState>(options["end"]), "as told");
    if (complaint) std::fprintf(stderr, "%s\n", complaint->c_str());
    tell("ended");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::map<std::string, int> options{{"points", 24},          {"ranks", 4},  {"nodes", 1}, {"ops", 100},
                                       {"first_size", 1000},    {"resume", 0}, {"force", 0}, {"step", 0},
                                       {"stop_after", 1 << 30}, {"end", 1},    {"failed", 0}};
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos || options.count(argument.substr(0, equals)) == 0)
            argc = 0;
        else
            options[argument.substr(0, equals)] = std::stoi(argument.substr(equals + 1));
    }
    if (argc < 2) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        return run(argv[1], options);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
