// SPDX-License-Identifier: BSD-3-Clause
// A word among a peer's flags, which it polls.
#pragma once

#include <rdma/fi_rma.h>

#include "a2aperf/transfer/context.hpp"

namespace a2aperf {

// What it asks of both endpoints: see offers().
inline constexpr std::uint64_t kWordCapabilities = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;

// Nothing completes here.
inline ssize_t write_word(const TransferContext& context, Rank peer, std::size_t word, std::uint64_t value) {
    const Region::Remote& flags = context.remote[peer].flags;
    return fi_inject_write(context.endpoint, &value, sizeof value, context.peers[peer],
                           flags.address + word * sizeof value, flags.key);
}

} // namespace a2aperf
