// SPDX-License-Identifier: BSD-3-Clause
// Which provider, adapter and modes this launch uses: one answer for all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/job/job.hpp"

namespace a2aperf {

// What a transfer mode asks of an endpoint.
struct ModeDemands {
    std::string_view mode;
    std::uint64_t capabilities; // see offers()
    std::uint64_t order;        // of messages to one peer
    bool reads;                 // receivers fetch their messages
};

struct ProviderWish {
    std::string provider; // "auto" or a name
    std::string nic;
    std::span<const std::string> modes;
    std::span<const ModeDemands> known_modes;
    bool mpi_uses_libfabric = false;
};

struct ProviderChoice {
    Offer offer;
    NicFacts nic;
    NicChoice nic_choice;
    Locality here;
    std::map<std::string, std::string> refused_modes; // mode → why
    std::vector<std::string> environment;             // "NAME=VALUE" that was set for the provider
    std::vector<std::string> warnings;
    std::string one_queue_trouble{}; // why two endpoints cannot have one queue, where that was looked at
    // Of a --nic that names several: those of this rank's node, as many as on every other, over which endpoints are
    // dealt. Empty where there is one: all endpoints have the offer.
    std::vector<Offer> adapters{};
    // Of the rank's endpoints, one after the other, where they are dealt.
    std::vector<Offer> dealt{};

    // All that may be used on this node, before they are dealt, too.
    std::span<const Offer> offers() const { return adapters.empty() ? std::span(&offer, 1) : std::span(adapters); }
    std::span<const Offer> used() const { return dealt.empty() ? std::span(&offer, 1) : std::span(dealt); }
};

// Collective. Throws UsageError (on all ranks) when the provider cannot serve this launch, and says what would.
ProviderChoice choose_provider(const Job& job, const ProviderWish& wish);

// Why this rank's node cannot hold so many endpoints of each of its ranks. Nodes may differ.
std::optional<std::string> room_trouble(const Job& job, const Provider& provider, int endpoints);

// Gives each of so many endpoints of this rank its adapter, the first one's being the offer; nothing where all have
// one.
void deal_adapters(ProviderChoice& choice, int local_index, int endpoints);

// Why two endpoints of a process cannot have one queue within one domain, found out by opening them; empty where
// they can. Of a provider that opens no second endpoint that is the reason already, and nothing is opened.
// Collective: one answer for all ranks.
std::string one_queue_trouble(const Job& job, const Offer& offer);

} // namespace a2aperf
