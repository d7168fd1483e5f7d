// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/provider_choice.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/mode_table.hpp"

namespace a2aperf {
namespace {

bool on_all_ranks(const Job& job, bool mine) {
    return job.min(mine ? 1 : 0) == 1;
}

// What one rank may find out alone, so that all ranks throw the same.
std::string first_text(const Job& job, const std::string& mine) {
    const auto texts = job.gather_text(mine);
    std::string first;
    for (std::size_t rank = 0; rank < texts.size() && first.empty(); ++rank)
        if (!texts[rank].empty()) first = fmt::format("{}: {}", job.who(static_cast<Rank>(rank)), texts[rank]);
    job.broadcast_text(first);
    return first;
}

std::optional<std::string> placement_refusal(const Provider& provider, const Job& job) {
    if (provider.reach == Reach::host && job.layout().nodes() > 1)
        return fmt::format(
            "{} works within one host, and the ranks span {}: use --provider tcp or the fabric's own",
            provider.name, job.layout().nodes());
    if (provider.max_ranks != 0 && job.ranks() > provider.max_ranks)
        return fmt::format("{} supports at most {} ranks, not {}: use --provider tcp or net", provider.name,
                           provider.max_ranks, job.ranks());
    return std::nullopt;
}

struct Candidates {
    std::vector<const Provider*> providers;
    bool has_rdma_device = false;
};

// Over several hosts an RDMA device decides: Ethernet beside it would be measured by mistake.
Candidates automatic_candidates(const Job& job) {
    Candidates candidates;
    candidates.has_rdma_device = job.max(rdma_devices("").empty() ? 0 : 1) == 1;
    const bool is_one_host = job.layout().nodes() == 1;
    for (const Provider& provider : known_providers()) {
        if (placement_refusal(provider, job)) continue;
        if (provider.needs == Needs::rdma_device) {
            if (on_all_ranks(job, !rdma_devices(provider.devices).empty()))
                candidates.providers.push_back(&provider);
        } else if (is_one_host || !candidates.has_rdma_device) {
            candidates.providers.push_back(&provider);
        }
    }
    return candidates;
}

struct Found {
    std::vector<InfoPtr> offers;
    std::map<std::string, std::string> refused_modes;
};

// All wanted modes on one endpoint where the provider can, else those that it can.
std::optional<Found> try_provider(const Job& job, const std::string& name, const std::vector<std::string>& modes,
                                  std::string& reason) {
    Found found;
    std::uint64_t capabilities = 0;
    std::uint64_t order = 0;
    for (const auto& mode : modes) {
        std::string why;
        const bool has_mode = !offers(name, find_mode(mode).capabilities, &why).empty();
        const std::string refusal = first_text(job, has_mode ? "" : why);
        if (refusal.empty()) {
            capabilities |= find_mode(mode).capabilities;
            order |= find_mode(mode).order;
        } else {
            found.refused_modes[mode] = fmt::format("{} does not offer {}: {}", name, mode, refusal);
        }
    }
    if (capabilities != 0) {
        // Without it skip_reason() judges what can be measured.
        if (order != 0 && !on_all_ranks(job, !offers(name, capabilities, nullptr, order).empty())) order = 0;
        found.offers = offers(name, capabilities, &reason, order);
        if (on_all_ranks(job, !found.offers.empty())) return found;
    }
    // A provider that is not here offers no mode, which is not why.
    const auto all = mode_table();
    std::string words;
    const bool is_here = std::any_of(all.begin(), all.end(), [&](const ModeEntry& mode) {
        return !offers(name, mode.capabilities, &words).empty();
    });
    const std::string missing = first_text(job, is_here ? "" : why_missing(find_provider(name), words));
    if (!missing.empty())
        reason = missing;
    else if (!found.refused_modes.empty())
        reason = found.refused_modes.begin()->second;
    return std::nullopt;
}

// Empty: none.
std::string trouble_of_order(const Provider& provider, const std::vector<std::string>& modes, const Found& found) {
    if (!provider.reads_directly_unordered || (found.offers.front()->tx_attr->msg_order & FI_ORDER_WAW) == 0)
        return {};
    std::string reads;
    std::string asks;
    for (const std::string& mode : modes) {
        if (found.refused_modes.contains(mode)) continue;
        if (find_mode(mode).initiator == Initiator::receiver) reads = mode;
        if ((find_mode(mode).order & FI_ORDER_WAW) != 0) asks = mode;
    }
    if (reads.empty() || asks.empty()) return {};
    return fmt::format(
        "in a launch with mode {}, {} serves {} without its direct copy: measure {} in a launch of its "
        "own",
        asks, provider.name, reads, reads);
}

std::uint64_t job_key(const Job& job) {
    std::uint64_t key = 0;
    if (job.is_root()) key = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
    job.broadcast(key);
    return key;
}

[[noreturn]] void refuse(const ProviderWish& wish, const std::vector<std::string>& reasons, bool has_rdma_device) {
    if (wish.provider != "auto")
        throw UsageError(
            fmt::format("--provider {} cannot be used here: {}; 'a2aperf providers' shows what this node "
                        "offers",
                        wish.provider, fmt::join(reasons, "; ")));
    if (has_rdma_device)
        throw UsageError(
            fmt::format("--provider auto: there is an RDMA device, and its provider cannot be used ({}); "
                        "--provider tcp measures over Ethernet instead",
                        fmt::join(reasons, "; ")));
    throw UsageError(fmt::format("--provider auto found no usable provider ({})", fmt::join(reasons, "; ")));
}

} // namespace

ProviderChoice choose_provider(const Job& job, const ProviderWish& wish) {
    Candidates candidates;
    if (wish.provider == "auto") {
        candidates = automatic_candidates(job);
    } else {
        const Provider& provider = find_provider(wish.provider);
        if (auto why = placement_refusal(provider, job)) throw UsageError(*why);
        candidates.providers = {&provider};
    }

    ProviderChoice choice;
    choice.environment =
        prepare_environment(candidates.providers, {job.ranks(), job_key(job), wish.mpi_uses_libfabric});
    choice.here = this_locality();
    std::vector<std::string> reasons;
    if (candidates.providers.empty()) reasons.emplace_back("no provider fits the devices of all hosts");
    for (const Provider* provider : candidates.providers) {
        const std::string name = wish.provider == "auto" ? std::string(provider->name) : wish.provider;
        const int here = job.layout().ranks_on_node()[static_cast<std::size_t>(job.layout().node_of(job.rank()))];
        std::string reason = provider->node_trouble != nullptr ? provider->node_trouble(here).value_or("") : "";
        if (reason = first_text(job, reason); !reason.empty()) {
            reasons.push_back(reason);
            continue;
        }
        auto found = try_provider(job, name, wish.modes, reason);
        if (!found) {
            reasons.push_back(fmt::format("{}: {}", name, reason));
            continue;
        }
        if (wish.provider == "auto" && candidates.has_rdma_device && provider->needs == Needs::nothing)
            choice.warnings.push_back(
                fmt::format("an RDMA device is present and not used ({}); {} measures this host only",
                            fmt::join(reasons, "; "), name));
        if (auto text = trouble_of_order(*provider, wish.modes, *found); !text.empty())
            choice.warnings.push_back(std::move(text));
        std::string trouble;
        try {
            choice.nic_choice = choose_nic(found->offers, {wish.nic, job.layout().local_index(job.rank()),
                                                           job.layout().nodes() > 1, choice.here});
        } catch (const UsageError& error) {
            trouble = error.what();
        }
        if (const auto text = first_text(job, trouble); !text.empty()) throw UsageError(text);
        choice.info = std::move(found->offers[choice.nic_choice.index]);
        choice.nic = nic_of(*choice.info);
        choice.refused_modes = std::move(found->refused_modes);
        return choice;
    }
    refuse(wish, reasons, candidates.has_rdma_device);
}

} // namespace a2aperf
