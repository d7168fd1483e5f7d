// SPDX-License-Identifier: BSD-3-Clause
#include "crash.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

[[noreturn]] void read_and_leave(const std::function<void()>& read, unsigned limit_s) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGALRM, SIG_DFL);
    alarm(limit_s);
    try {
        read();
    } catch (const std::exception&) { // see crash.hpp
    }
    _exit(0);
}

} // namespace

unsigned longest_read_s(const std::filesystem::path& file) {
    constexpr std::uintmax_t kSeconds = 600;
    constexpr std::uintmax_t kBytesPerSecond = 1'000'000;
    std::error_code ignored; // reading it will tell
    const std::uintmax_t bytes = std::filesystem::file_size(file, ignored);
    return static_cast<unsigned>(kSeconds + (ignored ? 0 : bytes / kBytesPerSecond));
}

void require_no_crash(const std::filesystem::path& file, const std::function<void()>& read, unsigned limit_s) {
    const auto fail = [&] {
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot have a process read {} first", file.string()));
    };
    const pid_t reader = fork();
    if (reader < 0) fail();
    if (reader == 0) read_and_leave(read, limit_s);
    int status = 0;
    while (waitpid(reader, &status, 0) < 0)
        if (errno != EINTR) fail();
    if (status == 0) return;
    std::string how = fmt::format("ends with status {}", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) how = fmt::format("dies ({})", strsignal(WTERMSIG(status)));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) how = fmt::format("has not ended after {} s", limit_s);
    throw UsageError(
        fmt::format("{0} is damaged: whoever reads it {1}. 'a2a check --repair {0} -o NEW' keeps what is "
                    "sound, -o names another file",
                    file.string(), how));
}

} // namespace a2aperf
