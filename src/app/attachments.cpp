// SPDX-License-Identifier: BSD-3-Clause
#include "attachments.hpp"

#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"

namespace a2aperf {

std::vector<std::pair<std::string, std::string>> read_attachments(const std::vector<std::filesystem::path>& files) {
    constexpr Bytes kMostBytes = 16U << 20U;
    std::vector<std::pair<std::string, std::string>> texts;
    std::set<std::string> names;
    for (const auto& file : files) {
        const std::string name = file.filename().string();
        std::string text = read_plain_text("--attach", file, kMostBytes);
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
