// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/port_arbitration.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/program_output.hpp"
#include "a2aperf/base/text_file.hpp"

namespace a2aperf {
namespace {

using Command = std::vector<std::string>;

constexpr Nanoseconds kTime = 2'000'000'000; // of a command
constexpr Bytes kMost = 256 << 10;           // of what it prints

std::string told_by(const std::vector<Command>& commands) {
    std::string all;
    for (const Command& words : commands) {
        const auto text = output_of(words, kTime, kMost);
        if (!text || text->find('\0') != std::string::npos) return {};
        all += fmt::format("$ {}\n{}", fmt::join(words, " "), *text);
        if (!all.ends_with('\n')) all += '\n';
    }
    return all;
}

} // namespace

std::string port_arbitration(const NicFacts& nic, const std::string& root) {
    if (nic.name.empty()) return {};
    if (!nic.is_rdma) {
        std::vector<Command> commands;
        for (const char* kind : {"qdisc", "class", "filter"})
            commands.push_back({"tc", kind, "show", "dev", nic.name});
        return told_by(commands);
    }
    const std::string port = nic.port.empty() ? "1" : nic.port;
    const auto folder = std::filesystem::path(root + "/sys/class/infiniband") / nic.name / "ports" / port;
    if (first_line(folder / "link_layer") != "InfiniBand") return {};
    std::vector<Command> commands;
    for (const char* what : {"SL2VL", "VLArb", "PI"}) // of the port itself: the direct route "0"
        commands.push_back({"smpquery", "-C", nic.name, "-P", port, "-D", what, "0", port});
    return told_by(commands);
}

void collect_arbitration(const Job& job, const NicFacts& nic, Provenance& provenance) {
    const Layout& layout = job.layout();
    if (layout.nodes() < 2) return;
    const bool is_first = layout.local_index(job.rank()) == 0;
    const auto of_ranks = job.gather_text(is_first ? port_arbitration(nic) : "");
    if (!job.is_root()) return;
    std::vector<std::string> of_nodes;
    for (const auto& ranks_here : layout.rank_at())
        of_nodes.push_back(of_ranks[static_cast<std::size_t>(ranks_here.front())]);
    if (std::ranges::all_of(of_nodes, &std::string::empty)) return;
    provenance.node_facts["nic_arbitration"] = std::move(of_nodes);
}

} // namespace a2aperf
