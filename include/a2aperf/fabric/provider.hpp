// SPDX-License-Identifier: BSD-3-Clause
// The providers we know, their quirks, and what a node offers. One row each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

// What an environment must be told before libfabric starts.
struct LaunchFacts {
    int ranks = 0;
    std::uint64_t job_key = 0; // the same on all ranks of the launch, another one in the next
    bool mpi_uses_libfabric = false;
};

enum class Reach { host, network };
enum class Needs { nothing, rdma_device };

struct Provider {
    std::string_view name;
    Reach reach;
    Needs needs;
    std::string_view devices;         // prefix of its device names in /sys/class/infiniband; empty = any
    int max_ranks;                    // 0 = no limit
    void (*tune)(const LaunchFacts&); // may be null
    // Why it loses messages that arrive before their receive is posted; nothing when it does not. May be null.
    std::optional<std::string> (*unexpected_trouble)(Bytes message_size, Bytes inject_size);
    // Does a receive from any source, with part of the tag ignored, leave later messages alone? Null = yes.
    bool (*takes_wildcards)();
    // Why this node cannot hold so many endpoints of each of its ranks; nothing when it can. May be null.
    std::optional<std::string> (*node_trouble)(int ranks_on_node, int endpoints);
    std::string_view network; // what its messages go over: "Omni-Path", "TCP", "shared memory"
    std::string_view about;   // for the table of providers
    bool injects_data = true; // fi_inject_writedata tells the target
    // A message sent with FI_INJECT and FI_COMPLETION completes with its own context.
    bool completes_injected = true;
    // A write with FI_DELIVERY_COMPLETE completes when its bytes are in the target's memory: known of its code.
    bool tells_delivery = false;
    // Asked to order writes, it reads without its direct copy.
    bool reads_directly_unordered = false;
    int max_endpoints = 0; // that a process can open; 0 = no limit
    // An endpoint is a file in /dev/shm, of the name that fi_setname gives it.
    bool names_segments = false;
    // fi_info's size of the receive queue is the most that it takes.
    bool bounds_receives = true;
    // Messages of a process to itself are copied within it.
    bool keeps_own_messages = false;
    // Variable that it reads whenever an endpoint is opened, for the service level of what that sends; empty =
    // none.
    std::string_view service_level{};

    bool needs_a_source() const { return takes_wildcards != nullptr && !takes_wildcards(); }
};

// In the order of preference of --provider auto.
std::span<const Provider> known_providers();

// The row that a name belongs to: "tcp", or a layered name such as "tcp;ofi_rxm". Throws UsageError that names
// the ones there are.
const Provider& find_provider(std::string_view name);

// Does libfabric's full name belong to the name that the user gave? "tcp" is served by "tcp" and "tcp;ofi_rxm".
bool provider_matches(std::string_view full_name, std::string_view wanted);

// Sets what these providers must know before the first fi_getinfo (FI_UNIVERSE_SIZE, their rows' tuning), never
// overriding a variable that the user has set. Returns "NAME=VALUE" of all it set.
std::vector<std::string> prepare_environment(std::span<const Provider* const> providers, const LaunchFacts& facts);

// Devices under /sys/class/infiniband whose name begins with prefix.
std::vector<std::string> rdma_devices(std::string_view prefix);

// What libfabric offers of one provider (full or short name) with reliable datagram endpoints and these
// capabilities (fi_getinfo(3); with FI_REMOTE_CQ_DATA among them, messages carry 4 bytes of data), in libfabric's
// order. order: of messages to one peer (FI_ORDER_…), which is asked for. Empty: reason, when given, says
// libfabric's words.
std::vector<Offer> offers(std::string_view provider, std::uint64_t capabilities, std::string* reason = nullptr,
                          std::uint64_t order = 0);

// Why this node offers nothing of a provider: what hides it, the device that is missing, or libfabric's own words.
std::string why_missing(const Provider& provider, const std::string& words);

// All that this node offers, of all providers and endpoint types.
std::vector<Offer> query_all();

std::string libfabric_version(); // of the library that is loaded

} // namespace a2aperf
