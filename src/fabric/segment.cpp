// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "a2aperf/job/process_status.hpp"

namespace a2aperf {
namespace {

// "4026531836" of "pid:[4026531836]"; 0 where the kernel has no such namespaces.
std::string namespace_number(const char* kind) {
    std::error_code error;
    std::string link = std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", kind), error).string();
    std::erase_if(link, [](unsigned char c) { return std::isdigit(c) == 0; });
    return link.empty() ? "0" : link;
}

// What the names of all processes begin with whose ids and times of start mean here what they mean there. Nothing
// where /proc shows another namespace than ours.
std::optional<std::string> common_prefix() {
    std::error_code error;
    if (std::filesystem::read_symlink("/proc/self", error) != std::to_string(getpid())) return std::nullopt;
    const std::string ids = namespace_number("pid");
    if (ids == "0") return std::nullopt;
    return fmt::format("a2aperf.{}.{}.", ids, namespace_number("time"));
}

struct Owner {
    pid_t id = 0;
    std::string started;
};

// The digits that a text begins with, which are taken off it, and the dot behind them.
std::string_view take_number(std::string_view& text) {
    const std::size_t length = text.find('.');
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
    return digits.find_first_not_of("0123456789") == std::string_view::npos ? digits : std::string_view();
}

// Of "4711.88123.0", or "4711.88123.0_17": libfabric lays large messages into files of their own, until 2.1.
std::optional<Owner> owner_of(std::string_view rest) {
    const std::string_view id = take_number(rest);
    const std::string_view started = take_number(rest);
    const std::string_view message =
        rest.find('_') == std::string_view::npos ? "0" : rest.substr(rest.find('_') + 1);
    rest = rest.substr(0, rest.find('_'));
    for (const std::string_view number : {started, message, rest})
        if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    Owner owner{.started = std::string(started)};
    const auto read = std::from_chars(id.data(), id.data() + id.size(), owner.id);
    // What is not above 0 is a group of processes to kill().
    if (id.empty() || read.ec != std::errc{} || read.ptr != id.data() + id.size() || owner.id <= 0)
        return std::nullopt;
    return owner;
}

// One that cannot be seen may live.
bool has_ended(const Owner& owner) {
    if (kill(owner.id, 0) != 0 && errno == ESRCH) return true;
    const ProcessStatus now = process_status(owner.id);
    return !now.started.empty() && now.has_ended(owner.started);
}

struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
};

RemovedSegments remove_segments(const std::filesystem::path& folder,
                                const std::function<bool(const Owner&)>& is_to_go) {
    RemovedSegments removed;
    const auto prefix = common_prefix();
    const std::unique_ptr<DIR, CloseFolder> opened(prefix ? opendir(folder.c_str()) : nullptr);
    if (opened == nullptr) return removed;
    const int place = dirfd(opened.get());
    while (const dirent* entry = readdir(opened.get())) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with(*prefix)) continue;
        const auto owner = owner_of(name.substr(prefix->size()));
        struct stat facts {};
        if (!owner || fstatat(place, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode) ||
            facts.st_uid != geteuid() || !is_to_go(*owner) || unlinkat(place, entry->d_name, 0) != 0)
            continue;
        ++removed.files;
        removed.bytes += static_cast<Bytes>(facts.st_blocks) * 512;
    }
    return removed;
}

} // namespace

std::string new_segment_name() {
    static std::atomic<int> count = 0;
    const auto prefix = common_prefix();
    const ProcessStatus self = process_status(getpid());
    if (!prefix || self.started.empty()) return {};
    return fmt::format("{}{}.{}.{}", *prefix, getpid(), self.started, count++);
}

RemovedSegments remove_dead_segments(const std::filesystem::path& folder) {
    return remove_segments(folder, has_ended);
}

void remove_own_segments(const std::filesystem::path& folder) {
    const ProcessStatus self = process_status(getpid());
    remove_segments(folder,
                    [&](const Owner& owner) { return owner.id == getpid() && owner.started == self.started; });
}

} // namespace a2aperf
