// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/memory.hpp"

#include <rdma/fi_domain.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

// Bytes that the kernel says new programs may take (MemAvailable), and all there are (MemTotal).
NodeMemory main_memory() {
    NodeMemory memory;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        Bytes kibibytes = 0;
        words >> key >> kibibytes;
        if (key == "MemAvailable:") memory.available = kibibytes * 1024;
        if (key == "MemTotal:") memory.total = kibibytes * 1024;
    }
    if (memory.available == 0 || memory.total == 0)
        throw RunError("/proc/meminfo does not say how much memory this node has");
    return memory;
}

// The kernel gives them, where it finds any, to whom it lets ask for them.
std::string lacks_huge_pages() {
    constexpr const char* kEnabled = "/sys/kernel/mm/transparent_hugepage/enabled";
    std::ifstream file(kEnabled);
    std::string words;
    std::getline(file, words);
    if (words.empty()) return "its kernel has no transparent huge pages";
    return words.find("[never]") == std::string::npos ? "" : fmt::format("{} says never", kEnabled);
}

std::span<std::byte> map(std::size_t bytes, bool has_huge_pages) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("mmap of {} for message buffers", format_bytes(size)));
    if (has_huge_pages) (void)madvise(address, size, MADV_HUGEPAGE);
    std::memset(address, 0, bytes);
    return {static_cast<std::byte*>(address), size};
}

void unmap(std::span<std::byte> memory) noexcept {
    munmap(memory.data(), memory.size());
}

int register_with(fid_domain* domain, std::span<std::byte> memory, std::uint64_t rights, std::uint64_t key,
                  fid_mr** registration) {
    return fi_mr_reg(domain, memory.data(), memory.size(), rights, 0, key, 0, registration, nullptr);
}

void write(std::byte* place, std::span<const std::byte> bytes) {
    std::memcpy(place, bytes.data(), bytes.size());
}

void read(const std::byte* place, std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), place, bytes.size());
}

void copy(const std::byte* from, std::byte* to, std::size_t size) {
    std::memcpy(to, from, size);
}

constexpr MemoryKind in_main_memory(std::string_view name, std::string (*lacking)(),
                                    std::span<std::byte> (*allocate)(std::size_t bytes)) {
    return {.name = name,
            .of_node = main_memory,
            .lacking = lacking,
            .allocate = allocate,
            .release = unmap,
            .register_with = register_with,
            .write = write,
            .read = read,
            .copy = copy,
            .is_main = true};
}

constexpr std::array kKinds{
    in_main_memory(
        "default", [] { return std::string(); }, [](std::size_t bytes) { return map(bytes, false); }),
    in_main_memory("huge", lacks_huge_pages, [](std::size_t bytes) { return map(bytes, true); }),
};

} // namespace

std::span<const MemoryKind> memory_kinds() {
    return kKinds;
}

const MemoryKind& find_memory(std::string_view name) {
    std::vector<std::string_view> names;
    for (const MemoryKind& kind : kKinds) {
        if (kind.name == name) return kind;
        names.push_back(kind.name);
    }
    throw_unknown("kind of memory", name, names);
}

} // namespace a2aperf
