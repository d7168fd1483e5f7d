// SPDX-License-Identifier: BSD-3-Clause
#include "crash.hpp"

#include <cerrno>
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

[[noreturn]] void read_and_leave(const std::function<void()>& read) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    try {
        read();
    } catch (const std::exception&) { // see crash.hpp
    }
    _exit(0);
}

} // namespace

void require_no_crash(const std::filesystem::path& file, const std::function<void()>& read) {
    const auto fail = [&] {
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot have a process read {} first", file.string()));
    };
    const pid_t reader = fork();
    if (reader < 0) fail();
    if (reader == 0) read_and_leave(read);
    int status = 0;
    while (waitpid(reader, &status, 0) < 0)
        if (errno != EINTR) fail();
    if (status == 0) return;
    const std::string how = WIFSIGNALED(status) ? fmt::format("dies ({})", strsignal(WTERMSIG(status)))
                                                : fmt::format("ends with status {}", WEXITSTATUS(status));
    throw UsageError(
        fmt::format("{0} is damaged: whoever reads it {1}. 'a2a check --repair {0} -o NEW' keeps what is "
                    "sound, -o names another file",
                    file.string(), how));
}

} // namespace a2aperf
