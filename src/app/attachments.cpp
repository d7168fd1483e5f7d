// SPDX-License-Identifier: BSD-3-Clause
#include "attachments.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::uintmax_t kMostBytes = 16U << 20U;

std::string read_text(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        throw UsageError(fmt::format("--attach: {} is not a file", quote(file.string())));
    if (const auto size = std::filesystem::file_size(file, error); !error && size > kMostBytes)
        throw UsageError(
            fmt::format("--attach: {} has {} bytes; up to 16 MiB are kept", quote(file.string()), size));
    std::ifstream stream(file, std::ios::binary);
    std::string whole;
    std::array<char, 65536> some{};
    while (stream.read(some.data(), some.size()), stream.gcount() > 0)
        whole.append(some.data(), static_cast<std::size_t>(stream.gcount()));
    // Neither opened, or half read: a copy with a hole would pass for the file.
    if (!stream.eof())
        throw UsageError(fmt::format("--attach: cannot read {}: {}", quote(file.string()), std::strerror(errno)));
    if (whole.find('\0') != std::string::npos)
        throw UsageError(fmt::format("--attach: {} is not a text file", quote(file.string())));
    return whole;
}

} // namespace

std::vector<std::pair<std::string, std::string>> read_attachments(const std::vector<std::filesystem::path>& files) {
    std::vector<std::pair<std::string, std::string>> texts;
    std::set<std::string> names;
    for (const auto& file : files) {
        const std::string name = file.filename().string();
        std::string text = read_text(file);
        if (!names.insert(name).second)
            throw UsageError(
                fmt::format("--attach: two files are called {}: give them different names", quote(name)));
        texts.emplace_back(name, std::move(text));
    }
    return texts;
}

void bring_to_root(const Job& job, std::vector<std::pair<std::string, std::string>>& texts, std::size_t count) {
    const bool has_read = !texts.empty();
    texts.resize(count);
    const auto from_reader = [&](std::string& own) {
        for (std::string& text : job.gather_text(has_read ? own : std::string{}))
            if (!text.empty()) own = std::move(text);
    };
    for (auto& [name, text] : texts) {
        from_reader(name);
        from_reader(text);
    }
}

} // namespace a2aperf
