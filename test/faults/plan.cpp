// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace faults {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 10> kErrors{{{"EAGAIN", EAGAIN},
                                                                    {"EACCES", EACCES},
                                                                    {"EINVAL", EINVAL},
                                                                    {"EIO", EIO},
                                                                    {"EMFILE", EMFILE},
                                                                    {"ENODATA", ENODATA},
                                                                    {"ENOMEM", ENOMEM},
                                                                    {"ENOSPC", ENOSPC},
                                                                    {"ENOSYS", ENOSYS},
                                                                    {"EROFS", EROFS}}};

std::atomic<long> g_calls{0};

long number_in(std::string_view text) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    (void)std::fprintf(stderr, "A2APERF_TEST_FAULT: '%.*s' is no number\n", static_cast<int>(text.size()),
                       text.data());
    std::_Exit(99);
}

void set_action(Plan& plan, std::string_view word) {
    const std::size_t colon = word.find(':');
    plan.action = word.substr(0, colon);
    if (colon != std::string_view::npos) plan.number = number_in(word.substr(colon + 1));
    for (const auto& [name, error] : kErrors)
        if (name == plan.action) plan.error = error;
}

void set(Plan& plan, std::string_view key, std::string_view word) {
    if (key == "call")
        plan.call = word;
    else if (key == "do")
        set_action(plan, word);
    else if (key == "path")
        plan.path = word;
    else if (key == "nth")
        plan.nth = number_in(word);
    else if (key == "count")
        plan.count = number_in(word);
    else if (key == "rank")
        plan.rank = number_in(word);
    else if (key == "above")
        plan.above = number_in(word);
    else
        std::_Exit(99);
}

long own_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
        if (const char* text = std::getenv(name)) return number_in(text);
    return 0;
}

Plan read_plan() {
    Plan plan;
    const char* text = std::getenv("A2APERF_TEST_FAULT");
    if (text == nullptr) return plan;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        const std::size_t equals = word.find('=');
        if (equals != std::string_view::npos) set(plan, word.substr(0, equals), word.substr(equals + 1));
    }
    plan.is_here = plan.rank < 0 || plan.rank == own_rank();
    return plan;
}

} // namespace

// The test wants to know that a fault was met, and how many calls there are. Past our own wrappers.
void note(const char* what, long number) {
    const char* file = std::getenv("A2APERF_TEST_FAULT_LOG");
    if (file == nullptr) return;
    std::array<char, 128> line{};
    const int length = std::snprintf(line.data(), line.size(), "%ld %s %ld\n", own_rank(), what, number);
    const long descriptor = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0) return;
    syscall(SYS_write, descriptor, line.data(), length);
    syscall(SYS_close, descriptor);
}

namespace {

[[gnu::destructor]] void tell_calls() {
    if (plan().is_here && g_calls.load() > 0) note("calls", g_calls.load());
}

} // namespace

const Plan& plan() {
    static const Plan read = read_plan();
    return read;
}

bool strikes(std::string_view call) {
    const Plan& wanted = plan();
    if (!wanted.is_here || call != wanted.call) return false;
    const long now = ++g_calls;
    if (now < wanted.nth || now - wanted.nth >= wanted.count) return false;
    if (now == wanted.nth) note("struck", now);
    return true;
}

int signal_of(std::string_view action) {
    if (action == "stop") return SIGSTOP;
    if (action == "kill") return SIGKILL;
    return action == "term" ? SIGTERM : 0;
}

} // namespace faults
