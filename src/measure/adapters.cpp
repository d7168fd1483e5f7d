// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/adapters.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kNoPort = "-";

bool are_same(const NicFacts& a, const NicFacts& b) {
    return a.name == b.name && a.port == b.port;
}

// A line of text for each to the other ranks; names of devices, ports and drivers hold no blank.
std::string packed(std::span<const NicFacts> nics) {
    std::string lines;
    for (const NicFacts& nic : nics)
        if (!nic.name.empty())
            lines += fmt::format("{} {} {} {} {}\n", nic.name, nic.port.empty() ? kNoPort : nic.port,
                                 nic.is_rdma ? 1 : 0, nic.link_rate_gbps, nic.driver);
    return lines;
}

std::vector<NicFacts> unpacked(const std::string& text) {
    std::vector<NicFacts> nics;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        NicFacts& nic = nics.emplace_back();
        std::istringstream words(line);
        words >> nic.name >> nic.port >> nic.is_rdma >> nic.link_rate_gbps >> nic.driver;
        if (nic.port == kNoPort) nic.port.clear();
    }
    return nics;
}

} // namespace

std::vector<NicFacts> adapters_of(std::span<const Offer> offers) {
    std::vector<NicFacts> adapters;
    for (const Offer& offer : offers) {
        NicFacts nic = nic_of(offer);
        if (std::ranges::none_of(adapters, [&](const NicFacts& other) { return are_same(nic, other); }))
            adapters.push_back(std::move(nic));
    }
    return adapters;
}

std::vector<std::string> names_of(std::span<const NicFacts> adapters) {
    std::vector<std::string> names;
    for (const NicFacts& nic : adapters) {
        const bool has_others = std::ranges::any_of(
            adapters, [&](const NicFacts& other) { return other.name == nic.name && other.port != nic.port; });
        names.push_back(has_others && !nic.port.empty() ? fmt::format("{}/{}", nic.name, nic.port) : nic.name);
    }
    return names;
}

std::vector<std::string> names_by_rank(const Job& job, std::span<const NicFacts> mine) {
    const auto texts = job.gather_text(packed(mine));
    std::vector<std::string> of_rank(texts.size());
    if (!job.is_root()) return of_rank;
    for (const std::vector<Rank>& here : job.layout().rank_at()) {
        std::vector<NicFacts> on_node;
        std::vector<Rank> whose;
        for (const Rank rank : here)
            for (NicFacts& nic : unpacked(texts[static_cast<std::size_t>(rank)])) {
                on_node.push_back(std::move(nic));
                whose.push_back(rank);
            }
        const std::vector<std::string> names = names_of(on_node);
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string& all = of_rank[static_cast<std::size_t>(whose[i])];
            all += all.empty() ? names[i] : "," + names[i];
        }
    }
    return of_rank;
}

std::vector<std::vector<NicFacts>> adapters_in_use(const Job& job, std::span<const NicFacts> mine) {
    const auto texts = job.all_gather_text(packed(mine));
    std::vector<std::vector<NicFacts>> adapters(static_cast<std::size_t>(job.layout().nodes()));
    for (Rank rank = 0; rank < job.ranks(); ++rank) {
        auto& on_node = adapters[static_cast<std::size_t>(job.layout().node_of(rank))];
        for (const NicFacts& nic : unpacked(texts[static_cast<std::size_t>(rank)])) {
            const bool is_known = std::any_of(on_node.begin(), on_node.end(),
                                              [&](const NicFacts& other) { return are_same(nic, other); });
            if (!is_known) on_node.push_back(nic);
        }
    }
    return adapters;
}

NodeLink node_link(const std::vector<std::vector<NicFacts>>& adapters, std::optional<double> stated) {
    NodeLink least;
    bool is_known = true;
    bool has_one_count = true;
    for (std::size_t node = 0; node < adapters.size(); ++node) {
        const std::vector<NicFacts>& there = adapters[node];
        const auto rate = [&](const NicFacts& nic) { return stated.value_or(nic.link_rate_gbps); };
        double gbps = 0;
        for (const NicFacts& nic : there) {
            is_known &= rate(nic) > 0;
            gbps += rate(nic);
        }
        is_known &= !there.empty();
        has_one_count &= there.size() == adapters.front().size();
        if (least.rails >= 0 && gbps >= least.gbps) continue;
        least.rails = static_cast<int>(there.size());
        least.gbps = gbps;
        least.node = static_cast<int>(node);
        least.is_even =
            std::ranges::all_of(there, [&](const NicFacts& nic) { return rate(nic) == rate(there.front()); });
    }
    if (is_known) return least;
    NodeLink unknown;
    if (has_one_count && least.rails > 0) unknown.rails = least.rails;
    return unknown;
}

std::string mean_words(const NodeLink& link, std::span<const std::string> hosts) {
    if (!link.is_mean()) return {};
    const std::string whose =
        link.node == 0 ? "their rates"
                       : fmt::format("the rates of those of {}", hosts[static_cast<std::size_t>(link.node)]);
    return fmt::format("; {} differ, and of a rank's part of them the bound takes the mean", whose);
}

std::string unknown_words(const std::vector<std::vector<NicFacts>>& adapters, std::span<const std::string> hosts,
                          const std::string& provider) {
    std::vector<std::string> without;
    for (std::size_t node = 0; node < adapters.size(); ++node)
        if (adapters[node].empty()) without.push_back(hosts[node]);
    if (without.empty()) return {};
    if (without.size() == adapters.size()) return fmt::format("for {} no adapter is known", provider);
    const auto more = static_cast<std::int64_t>(without.size()) - 1;
    return fmt::format("of {}{} no adapter is known", without.front(),
                       more > 0 ? " and " + counted(more, "more node") : "");
}

} // namespace a2aperf
