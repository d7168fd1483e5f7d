// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "a2aperf/base/clock.hpp"
#include "descriptor.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kLastWait = 1'000'000'000; // for one that was killed

std::string folders() {
    const char* const path = std::getenv("PATH");
    return (path != nullptr ? std::string(path) + ":" : std::string()) + "/usr/sbin:/sbin:/usr/bin:/bin";
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    std::istringstream path(folders());
    for (std::string folder; std::getline(path, folder, ':');) {
        const fs::path file = fs::path(folder) / name;
        std::error_code ignored;
        if (!folder.empty() && fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0)
            return file.string();
    }
    return {};
}

// A process group of its own, so that what it starts ends with it.
class Child {
public:
    Child(const std::string& file, std::vector<std::string> words, int out) {
        std::array<std::string, 2> variables{"PATH=" + folders(), "LC_ALL=C"};
        std::vector<char*> arguments, environment;
        for (std::string& word : words) arguments.push_back(word.data());
        for (std::string& one : variables) environment.push_back(one.data());
        arguments.push_back(nullptr);
        environment.push_back(nullptr);

        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_t how;
        posix_spawnattr_init(&how);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setsigdefault(&how, &all);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (posix_spawn(&process_, file.c_str(), &files, &how, arguments.data(), environment.data()) != 0)
            process_ = -1;
        posix_spawnattr_destroy(&how);
        posix_spawn_file_actions_destroy(&files);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (process_ < 0 || has_ended_) return;
        kill(-process_, SIGKILL);
        (void)ends_by(now_ns() + kLastWait); // one that hangs in the kernel is left there
    }

    bool is_there() const { return process_ >= 0; }
    bool succeeded() const { return has_ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
    bool ends_by(Nanoseconds deadline) {
        while (!has_ended_) {
            const pid_t ended = waitpid(process_, &status_, WNOHANG);
            if (ended < 0 && errno != EINTR) return false; // somebody else has taken its status
            has_ended_ = ended == process_;
            if (has_ended_ || now_ns() > deadline) break;
            poll(nullptr, 0, 1);
        }
        return has_ended_;
    }

private:
    pid_t process_ = -1;
    int status_ = 0;
    bool has_ended_ = false;
};

// Until its end; nothing where that does not come in time, or there is more.
std::optional<std::string> read_all(int from, Nanoseconds deadline, Bytes most) {
    std::string text;
    std::array<char, 4096> part;
    for (;;) {
        const Nanoseconds left = deadline - now_ns();
        if (left <= 0) return std::nullopt;
        pollfd ready{from, POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) continue;
        const ssize_t count = read(from, part.data(), part.size());
        if (count == 0) return text;
        if (count < 0 && errno != EINTR) return std::nullopt;
        if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
        if (text.size() > most) return std::nullopt;
    }
}

} // namespace

std::optional<std::string> output_of(const std::vector<std::string>& words, Nanoseconds time, Bytes most) {
    const std::string file = find_program(words.front());
    if (file.empty()) return std::nullopt;
    const Nanoseconds deadline = now_ns() + time;
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    const Descriptor out(ends[0]);
    Descriptor in(ends[1]);
    Child child(file, words, in.number());
    in.reset();
    if (!child.is_there()) return std::nullopt;
    auto text = read_all(out.number(), deadline, most);
    if (!text || !child.ends_by(deadline) || !child.succeeded()) return std::nullopt;
    return text;
}

} // namespace a2aperf
