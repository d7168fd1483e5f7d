// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/provider_choice.hpp"

#include <rdma/fabric.h>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/domain.hpp"
#include "a2aperf/fabric/endpoint.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/plan/channel_part.hpp"

namespace a2aperf {
namespace {

bool on_all_ranks(const Job& job, bool mine) {
    return job.min(mine ? 1 : 0) == 1;
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

const ModeDemands& demands_of(std::string_view mode, const ProviderWish& wish) {
    for (const ModeDemands& demands : wish.known_modes)
        if (demands.mode == mode) return demands;
    throw std::logic_error(fmt::format("mode {} demands nothing", mode));
}

struct Found {
    std::vector<Offer> offers;
    std::map<std::string, std::string> refused_modes;
};

// All wanted modes on one endpoint where the provider can, else those that it can.
std::optional<Found> try_provider(const Job& job, const std::string& name, const ProviderWish& wish,
                                  std::string& reason) {
    Found found;
    std::uint64_t capabilities = 0;
    std::uint64_t order = 0;
    for (const auto& mode : wish.modes) {
        const ModeDemands& demands = demands_of(mode, wish);
        std::string why;
        const bool has_mode = !offers(name, demands.capabilities, &why).empty();
        const std::string refusal = job.first_text(has_mode ? "" : why);
        if (refusal.empty()) {
            capabilities |= demands.capabilities;
            order |= demands.order;
        } else {
            found.refused_modes[mode] = fmt::format("{} does not offer {}: {}", name, mode, refusal);
        }
    }
    if (capabilities != 0) {
        // Without it fabric_skip_reason() judges what can be measured.
        if (order != 0 && !on_all_ranks(job, !offers(name, capabilities, nullptr, order).empty())) order = 0;
        found.offers = offers(name, capabilities, &reason, order);
        if (on_all_ranks(job, !found.offers.empty())) return found;
    }
    // A provider that is not here offers no mode, which is not why.
    std::string words;
    const bool is_here =
        std::any_of(wish.known_modes.begin(), wish.known_modes.end(), [&](const ModeDemands& demands) {
            return !offers(name, demands.capabilities, &words).empty();
        });
    const std::string missing = job.first_text(is_here ? "" : why_missing(find_provider(name), words));
    if (!missing.empty())
        reason = missing;
    else if (!found.refused_modes.empty())
        reason = found.refused_modes.begin()->second;
    return std::nullopt;
}

// Empty: none.
std::string trouble_of_order(const Provider& provider, const ProviderWish& wish, const Found& found) {
    if (!provider.reads_directly_unordered || (found.offers.front().info().tx_attr->msg_order & FI_ORDER_WAW) == 0)
        return {};
    std::string reads;
    std::string asks;
    for (const std::string& mode : wish.modes) {
        if (found.refused_modes.contains(mode)) continue;
        if (demands_of(mode, wish).reads) reads = mode;
        if ((demands_of(mode, wish).order & FI_ORDER_WAW) != 0) asks = mode;
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

// An endpoint reaches those of its number on the other nodes.
void require_as_many(const Job& job, const ProviderWish& wish, const std::vector<Offer>& offers,
                     const std::vector<NicChoice>& nics) {
    const auto count = static_cast<std::int64_t>(nics.size());
    if (job.min(count) == job.max(count)) return;
    std::string names;
    for (const NicChoice& nic : nics) names += (names.empty() ? "" : ", ") + offers[nic.index].domain();
    const std::vector<std::string> texts = job.gather_text(names);
    std::string words;
    if (job.is_root()) {
        const auto commas = [](const std::string& text) { return std::ranges::count(text, ','); };
        const auto other = std::ranges::find_if(
            texts, [&](const std::string& text) { return commas(text) != commas(texts.front()); });
        words = fmt::format(
            "--nic {}: {} has {}, and {} has {}: name those that every node has, or bring up what is "
            "missing",
            wish.nic, job.host(0), texts.front(), job.host(static_cast<Rank>(other - texts.begin())), *other);
    }
    job.broadcast_text(words);
    throw UsageError(words);
}

// Of what was found, by the adapter that each rank takes.
ProviderChoice choice_of(const Job& job, const ProviderWish& wish, Found found,
                         const std::vector<std::string>& environment, std::vector<std::string> warnings) {
    Locality here = this_locality();
    std::vector<NicChoice> nics;
    std::string trouble;
    try {
        nics = choose_nics(found.offers,
                           {wish.nic, job.layout().local_index(job.rank()), job.layout().nodes() > 1, here});
    } catch (const UsageError& error) {
        trouble = error.what();
    }
    if (const auto text = job.first_text(trouble); !text.empty()) throw UsageError(text);
    require_as_many(job, wish, found.offers, nics);
    std::vector<Offer> adapters;
    if (nics.size() > 1)
        for (const NicChoice& one : nics) adapters.push_back(found.offers[one.index]);
    Offer& offer = found.offers[nics.front().index];
    NicFacts facts = nic_of(offer);
    return {.offer = std::move(offer),
            .nic = std::move(facts),
            .nic_choice = std::move(nics.front()),
            .here = std::move(here),
            .refused_modes = std::move(found.refused_modes),
            .environment = environment,
            .warnings = std::move(warnings),
            .adapters = std::move(adapters)};
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

void deal_adapters(ProviderChoice& choice, int local_index, int endpoints) {
    choice.dealt.clear();
    if (choice.adapters.empty()) return;
    const auto count = static_cast<int>(choice.adapters.size());
    for (int i = 0; i < endpoints; ++i)
        choice.dealt.push_back(
            choice.adapters[static_cast<std::size_t>(ChannelPart{i, endpoints}.adapter(count, local_index))]);
    choice.offer = Offer(choice.dealt.front());
    choice.nic = nic_of(choice.offer);
    choice.nic_choice = {0, numa_distance(choice.here.numa_nodes, choice.nic.numa_node), {}};
    std::vector<std::pair<int, std::string>> adapters;
    for (const Offer& offer : choice.dealt) adapters.emplace_back(nic_of(offer).numa_node, offer.domain());
    choice.nic_choice.warning = why_far(adapters, choice.here);
}

std::string one_queue_trouble(const Job& job, const Offer& offer) {
    if (find_provider(offer.provider()).max_endpoints == 1) return {};
    constexpr std::size_t kDepth = 64;
    std::string mine;
    try {
        const Domain domain(offer);
        const Endpoint first(domain, kDepth, Wait::none);
        const Endpoint second(domain, first);
    } catch (const std::system_error& error) {
        mine = fmt::format("{} has no queue for two endpoints: {}", offer.provider(), error.what());
    }
    return job.first_text(mine);
}

std::optional<std::string> room_trouble(const Job& job, const Provider& provider, int endpoints) {
    if (provider.node_trouble == nullptr) return std::nullopt;
    const auto node = static_cast<std::size_t>(job.layout().node_of(job.rank()));
    return provider.node_trouble(job.layout().ranks_on_node()[node], endpoints);
}

ProviderChoice choose_provider(const Job& job, const ProviderWish& wish) {
    Candidates candidates;
    if (wish.provider == "auto") {
        candidates = automatic_candidates(job);
    } else {
        const Provider& provider = find_provider(wish.provider);
        if (auto why = placement_refusal(provider, job)) throw UsageError(*why);
        candidates.providers = {&provider};
    }

    const auto environment =
        prepare_environment(candidates.providers, {job.ranks(), job_key(job), wish.mpi_uses_libfabric});
    std::vector<std::string> reasons;
    if (candidates.providers.empty()) reasons.emplace_back("no provider fits the devices of all hosts");
    for (const Provider* provider : candidates.providers) {
        const std::string name = wish.provider == "auto" ? std::string(provider->name) : wish.provider;
        std::string reason = job.first_text(room_trouble(job, *provider, 1).value_or(""));
        if (!reason.empty()) {
            reasons.push_back(reason);
            continue;
        }
        auto found = try_provider(job, name, wish, reason);
        if (!found) {
            reasons.push_back(fmt::format("{}: {}", name, reason));
            continue;
        }
        std::vector<std::string> warnings;
        if (wish.provider == "auto" && candidates.has_rdma_device && provider->needs == Needs::nothing)
            warnings.push_back(
                fmt::format("an RDMA device is present and not used ({}); {} measures this host only",
                            fmt::join(reasons, "; "), name));
        if (auto text = trouble_of_order(*provider, wish, *found); !text.empty())
            warnings.push_back(std::move(text));
        return choice_of(job, wish, std::move(*found), environment, std::move(warnings));
    }
    refuse(wish, reasons, candidates.has_rdma_device);
}

} // namespace a2aperf
