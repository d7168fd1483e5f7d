// SPDX-License-Identifier: BSD-3-Clause
// `a2aperf providers`: what this node offers, and why the rest is missing.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/terminal.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "commands.hpp"

namespace a2aperf {
namespace {

using Cells = std::vector<std::string>;

// Which endpoint types each provider has, measured or not: datagram and connected ones are shown, not used.
std::map<std::string, std::set<std::string>> endpoint_types() {
    std::map<std::string, std::set<std::string>> types;
    for (const Offer& offer : query_all()) {
        const std::string full = offer.provider();
        types[full.substr(0, full.find(';'))].insert(offer.endpoint_type());
    }
    return types;
}

std::string joined(const std::set<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
    return text.empty() ? "-" : text;
}

std::set<std::string> modes_of(std::string_view provider) {
    std::set<std::string> modes;
    for (const ModeEntry& mode : mode_table())
        if (!offers(provider, mode.capabilities).empty()) modes.emplace(mode.name);
    return modes;
}

Cells row_of(const Provider& provider, const Offer& offer, const std::set<std::string>& types,
             const std::set<std::string>& modes) {
    const NicFacts nic = nic_of(offer);
    return {std::string(provider.name),
            offer.provider(),
            offer.domain(),
            joined(types),
            joined(modes),
            fmt::format("{} B", offer.inject_size()),
            offer.largest_message() >= (Bytes{1} << 62) ? "any" : format_bytes(offer.largest_message()),
            nic.link_rate_gbps > 0 ? fmt::format("{:g} Gbit/s", nic.link_rate_gbps) : "-",
            nic.name.empty() ? "-" : nic.name,
            nic.numa_node >= 0 ? std::to_string(nic.numa_node) : "-"};
}

void print_table(const std::vector<Cells>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const Cells& cells : rows)
        for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
    for (const Cells& cells : rows) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        say(line + "\n");
    }
}

} // namespace

int run_providers() {
    const auto types = endpoint_types();
    std::vector<Cells> rows{
        {"provider", "full name", "domain", "endpoints", "modes", "inject", "largest", "link", "NIC", "NUMA"}};
    std::vector<std::string> missing;
    for (const Provider& provider : known_providers()) {
        const auto of_provider = types.find(std::string(provider.name));
        const auto modes = modes_of(provider.name);
        std::set<std::string> domains;
        std::string reason;
        for (const ModeEntry& mode : mode_table())
            for (const Offer& offer : offers(provider.name, mode.capabilities, &reason))
                if (domains.insert(offer.domain()).second)
                    rows.push_back(
                        row_of(provider, offer,
                               of_provider != types.end() ? of_provider->second : std::set<std::string>{}, modes));
        if (domains.empty())
            missing.push_back(
                fmt::format("{:<8} {}: {}", provider.name, provider.about, why_missing(provider, reason)));
    }
    say(fmt::format("libfabric {}\n\n", libfabric_version()));
    print_table(rows);
    if (!missing.empty()) say("\nnot here:\n");
    for (const auto& line : missing) say(fmt::format("  {}\n", line));
    return 0;
}

} // namespace a2aperf
