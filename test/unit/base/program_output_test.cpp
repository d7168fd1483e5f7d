// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/program_output.hpp"

#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/text_file.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

constexpr Nanoseconds kLong = 600'000'000'000;

std::optional<std::string> shell(const std::string& script, Nanoseconds time = kLong, Bytes most = 1 << 20) {
    return output_of({"sh", "-c", script}, time, most);
}

} // namespace

TEST_CASE("what a program prints is there to the last byte") {
    CHECK(shell("echo one; echo two").value() == "one\ntwo\n");
    CHECK(shell("exit 0").value().empty());
    CHECK(shell("i=0; while [ $i -lt 9000 ]; do echo 123456789; i=$((i+1)); done").value().size() == 90'000);
    CHECK(output_of({"/bin/sh", "-c", "printf '%s' \"$1\"", "-", "a b;$x"}, kLong, 100).value() == "a b;$x");
}

TEST_CASE("one that is not there, fails, or says too much says nothing") {
    CHECK_FALSE(output_of({"a2aperf-has-no-such-program"}, kLong, 100));
    CHECK_FALSE(output_of({"/bin/a2aperf-has-no-such-program"}, kLong, 100));
    CHECK_FALSE(shell("echo half; exit 3"));
    CHECK_FALSE(shell("echo half; kill -9 $$"));
    CHECK_FALSE(shell("echo 123456789", kLong, 9));
    CHECK(shell("echo 123456789", kLong, 10));
    CHECK_FALSE(shell("while :; do echo without end; done"));
}

TEST_CASE("one that does not end is killed with all that it has started") {
    const test::TemporaryFolder folder;
    const std::string file = (folder / "started").string();
    CHECK_FALSE(shell("sleep 1000 & echo $! >" + file + "; wait", 300'000'000));
    const std::string started = first_line(file);
    if (started.empty()) return; // it was killed before
    const auto is_gone = [&] {
        const std::string state = first_line("/proc/" + started + "/stat");
        return state.empty() || state.find(") Z") != std::string::npos;
    };
    while (!is_gone()) (void)shell("sleep 0.01");
    // One that closes its stdout and stays.
    CHECK_FALSE(shell("exec >&-; exec sleep 1000", 100'000'000));
}

TEST_CASE("it gets nothing to read, no variables of ours, and no signal that we ignore or hold back") {
    setenv("A2APERF_TEST_OUTPUT", "ours", 1);
    CHECK(shell("cat; echo \"[$A2APERF_TEST_OUTPUT]\" $LC_ALL").value() == "[] C\n");
    unsetenv("A2APERF_TEST_OUTPUT");
    const auto before = signal(SIGPIPE, SIG_IGN);
    CHECK_FALSE(shell("kill -PIPE $$; echo went on"));
    signal(SIGPIPE, before);
}

TEST_CASE("programs are looked for in PATH first, then where those of root are") {
    const test::TemporaryFolder folder;
    const std::filesystem::path own = folder / "cat";
    std::ofstream(own) << "#!/bin/sh\necho own\n";
    std::filesystem::permissions(own, std::filesystem::perms::owner_all);
    const std::string before = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    setenv("PATH", folder.path().c_str(), 1);
    CHECK(output_of({"cat"}, kLong, 100).value() == "own\n");
    CHECK(shell("echo found").value() == "found\n");
    setenv("PATH", before.c_str(), 1);
}
