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
#include "a2aperf/fabric/nic_details.hpp"
#include "a2aperf/fabric/offer_details.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/fabric/variables.hpp"
#include "a2aperf/measure/host_state.hpp"
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

// Once each, in the order in which they were found.
struct FoundProviders {
    std::vector<Cells> rows;
    std::vector<Offer> offers;
    std::vector<std::string> missing;
};

FoundProviders find_all() {
    const auto types = endpoint_types();
    FoundProviders found;
    for (const Provider& provider : known_providers()) {
        const auto of_provider = types.find(std::string(provider.name));
        const auto modes = modes_of(provider.name);
        std::set<std::string> domains;
        std::string reason;
        for (const ModeEntry& mode : mode_table())
            for (const Offer& offer : offers(provider.name, mode.capabilities, &reason))
                if (domains.insert(offer.domain()).second) {
                    found.rows.push_back(
                        row_of(provider, offer,
                               of_provider != types.end() ? of_provider->second : std::set<std::string>{}, modes));
                    found.offers.push_back(offer);
                }
        if (domains.empty())
            found.missing.push_back(
                fmt::format("{:<8} {}: {}", provider.name, provider.about, why_missing(provider, reason)));
    }
    return found;
}

void print_details(const std::string& heading, const std::vector<Detail>& details) {
    say(fmt::format("\n{}\n", heading));
    for (const Detail& detail : details) {
        const std::string why = detail.why_unknown.empty() ? "" : fmt::format(" ({})", detail.why_unknown);
        say(fmt::format("  {:<32} {}\n", detail.name, detail.value.empty() ? "unknown" + why : detail.value));
    }
}

void print_all_details(const std::vector<Offer>& offers) {
    std::map<std::string, NicFacts> devices;
    for (const Offer& offer : offers) {
        print_details(fmt::format("{} over {}", offer.provider(), offer.domain()), offer_details(offer));
        if (const NicFacts nic = nic_of(offer); !nic.name.empty()) devices.emplace(nic.name, nic);
    }
    for (const auto& [name, nic] : devices) print_details("device " + name, nic_details(nic));
    if (devices.empty()) say("\nno device: no provider here uses one\n");
    print_details("this node", host_state());
}

int print_variables() {
    const std::vector<Variable> variables = library_variables();
    say(fmt::format("libfabric {}: variables of the providers that it has loaded\n\n", libfabric_version()));
    for (const Variable& one : variables)
        say(fmt::format("  {:<40} {}{}\n", one.name, one.value.empty() ? "" : fmt::format("is {}; ", one.value),
                        one.about));
    return 0;
}

} // namespace

int run_providers(ProvidersPage page) {
    if (page == ProvidersPage::variables) return print_variables();
    FoundProviders found = find_all();
    found.rows.insert(found.rows.begin(), {"provider", "full name", "domain", "endpoints", "modes", "inject",
                                           "largest", "link", "NIC", "NUMA"});
    say(fmt::format("libfabric {}\n\n", libfabric_version()));
    print_table(found.rows);
    if (!found.missing.empty()) say("\nnot here:\n");
    for (const auto& line : found.missing) say(fmt::format("  {}\n", line));
    if (page == ProvidersPage::details) print_all_details(found.offers);
    return 0;
}

} // namespace a2aperf
