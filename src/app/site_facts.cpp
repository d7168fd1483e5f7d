// SPDX-License-Identifier: BSD-3-Clause
#include "site_facts.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"
#include "a2aperf/base/utf8.hpp"
#include "a2aperf/config/values.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kSiteOption = "--node-facts";
// What the first rank of a node has found, before its words.
constexpr char kRead = '=', kNoFile = '-', kRefused = '!';

std::string look_at(const std::filesystem::path& file) {
    constexpr Bytes kMostBytes = 16U << 10U;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) && !ignored) return {kNoFile};
    try {
        return kRead + read_plain_text(kSiteOption, file, kMostBytes);
    } catch (const UsageError& error) {
        return kRefused + std::string(error.what());
    }
}

Assignment fact_of(std::string_view line, const std::string& node, int number) {
    const std::size_t end = std::min(line.find('='), line.size());
    try {
        return parse_assignment(fmt::format("{}{}", trimmed(line.substr(0, end)), line.substr(end)));
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}, line {}: {}", kSiteOption, node, number, error.what()));
    }
}

} // namespace

FactsOfNodes facts_of_nodes(const std::vector<std::string>& nodes, const std::vector<std::string>& texts) {
    constexpr std::size_t kMostNames = 64;
    FactsOfNodes facts;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        std::set<std::string> seen;
        std::istringstream lines(texts[n]);
        std::string whole;
        for (int number = 1; std::getline(lines, whole); ++number) {
            const std::string_view line = trimmed(whole);
            if (line.empty() || line.front() == '#') continue;
            const auto [name, value] = fact_of(line, nodes[n], number);
            if (!seen.insert(name).second)
                throw UsageError(
                    fmt::format("{}: {}, line {}: {} is given twice", kSiteOption, nodes[n], number, quote(name)));
            auto& values = facts["site_" + name];
            values.resize(nodes.size());
            values[n] = trimmed(value);
        }
        if (facts.size() > kMostNames)
            throw UsageError(fmt::format("{}: {}: more than {} names", kSiteOption, nodes[n], kMostNames));
    }
    return facts;
}

namespace {

// found: what the first rank of each node has, by rank.
FactsOfNodes facts_that_were_found(const Job& job, const std::filesystem::path& file,
                                   const std::vector<std::string>& found) {
    std::vector<std::string> nodes, texts;
    bool has_any = false;
    for (const auto& ranks_here : job.layout().rank_at()) {
        const std::string& text = found[static_cast<std::size_t>(ranks_here.front())];
        nodes.push_back(job.host(ranks_here.front()));
        if (text.front() == kRefused) throw UsageError(fmt::format("{} (on {})", text.substr(1), nodes.back()));
        has_any = has_any || text.front() == kRead;
        texts.push_back(text.substr(1));
    }
    if (!has_any) throw UsageError(fmt::format("{}: no node has {}", kSiteOption, quote(file.string())));
    return facts_of_nodes(nodes, texts);
}

} // namespace

FactsOfNodes read_site_facts(const Job& job, const std::filesystem::path& file) {
    const bool is_first = job.layout().local_index(job.rank()) == 0;
    const auto found = job.gather_text(is_first ? look_at(file) : std::string{});
    FactsOfNodes facts;
    std::string trouble;
    try {
        if (job.is_root()) facts = facts_that_were_found(job, file, found);
    } catch (const UsageError& error) {
        trouble = error.what();
    }
    job.broadcast_text(trouble);
    if (!trouble.empty()) throw UsageError(trouble);
    return facts;
}

} // namespace a2aperf
