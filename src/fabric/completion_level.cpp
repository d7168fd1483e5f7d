// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/completion_level.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// Read in the code of 1.17 and 2.6: these accept the flag and do as without it. shm is not here: its messages have
// left when they complete, asked or not.
struct Deaf {
    std::string_view name; // full, or its end
    CompletionLevel level;
    bool is_written;
};
constexpr std::array kDeaf{
    // Their sends pass no flags on to the provider below; their writes do.
    Deaf{";ofi_rxm", CompletionLevel::transmit, false},     Deaf{";ofi_rxm", CompletionLevel::delivery, false},
    Deaf{"verbs;ofi_rxm", CompletionLevel::delivery, true}, Deaf{";ofi_rxd", CompletionLevel::transmit, false},
    Deaf{";ofi_rxd", CompletionLevel::delivery, false},     Deaf{";ofi_rxd", CompletionLevel::transmit, true},
    Deaf{";ofi_rxd", CompletionLevel::delivery, true},      Deaf{"psm2", CompletionLevel::transmit, false},
    Deaf{"psm2", CompletionLevel::delivery, false},         Deaf{"psm2", CompletionLevel::transmit, true},
    Deaf{"psm3", CompletionLevel::transmit, false},         Deaf{"psm3", CompletionLevel::delivery, false},
    Deaf{"psm3", CompletionLevel::transmit, true},
};

bool is_accepted(const Offer& offer, std::uint64_t flag) {
    const InfoPtr hints(fi_dupinfo(&offer.info()));
    if (hints == nullptr) throw std::bad_alloc();
    hints->tx_attr->op_flags |= flag;
    fi_info* found = nullptr;
    const int status = fi_getinfo(hints->fabric_attr->api_version, nullptr, nullptr, 0, hints.get(), &found);
    const InfoPtr list(found);
    return status == 0;
}

} // namespace

std::uint64_t flag_of(CompletionLevel level) {
    switch (level) {
    case CompletionLevel::as_provider:
        return 0;
    case CompletionLevel::transmit:
        return FI_TRANSMIT_COMPLETE;
    case CompletionLevel::delivery:
        return FI_DELIVERY_COMPLETE;
    }
    return 0;
}

std::optional<std::string> level_trouble(const Offer& offer, CompletionLevel level, bool is_written,
                                         Bytes message_size) {
    if (level == CompletionLevel::as_provider) return std::nullopt;
    const std::string name = offer.provider();
    const bool is_deaf = std::ranges::any_of(kDeaf, [&](const Deaf& deaf) {
        return name.ends_with(deaf.name) && level == deaf.level && is_written == deaf.is_written;
    });
    if (is_deaf)
        return fmt::format("{} takes no notice of FI_{}_COMPLETE where messages are {}", name,
                           level == CompletionLevel::transmit ? "TRANSMIT" : "DELIVERY",
                           is_written ? "written" : "sent");
    // Measured on 1.17: it goes by as many buffers as its bytes need, none, and never arrives.
    if (name == "shm" && level == CompletionLevel::delivery && message_size == 0)
        return "shm never delivers a message of 0 B with FI_DELIVERY_COMPLETE";
    if (!is_accepted(offer, flag_of(level)))
        return fmt::format("{} does not offer completions at {}", name, to_string(level));
    return std::nullopt;
}

// Until 1.20 the endpoint of each connection lacks what the endpoint's queue was bound with.
std::optional<std::string> selection_trouble(const Offer& offer) {
    const std::string name = offer.provider();
    if (name == "net" || (name == "tcp" && FI_VERSION_LT(fi_version(), FI_VERSION(1, 20))))
        return fmt::format("{} of this libfabric completes every send, asked or not", name);
    return std::nullopt;
}

} // namespace a2aperf
