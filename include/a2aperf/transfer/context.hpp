// SPDX-License-Identifier: BSD-3-Clause
// What every transfer mode works on: one endpoint, the buffers of one point, and the peers.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h> // what the modes return

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/region.hpp"

namespace a2aperf {

// One operation under way. libfabric may use it until the completion, and its place in the array of slots tells
// which operation has completed.
struct Slot {
    fi_context2 context;
};

// One message of an op, on one side: whom it goes to or comes from, and where it lies.
struct Route {
    fi_addr_t address;            // of the peer
    std::byte* message;           // in our buffer
    std::uint64_t remote_address; // in the peer's: where it is written to, or read from
    std::uint64_t remote_key;
    Slot* slot; // of the operation
    Rank peer;
};

// What a rank must know of a peer's buffers to write into one or to read from the other, and where its flags are.
struct RemoteBuffers {
    Region::Remote send, receive, flags;
};

struct TransferContext {
    fid_ep* endpoint;
    Rank self;
    int ranks;
    const fi_addr_t* peers; // [R]
    // Places in the buffers, [R]. The message to a peer lies in the peer's receive buffer where it lies in our
    // send buffer: both follow from the distance between the two ranks.
    const std::size_t* send_offset;
    const std::size_t* receive_offset;
    std::byte* send_buffer;
    std::byte* receive_buffer;
    void* send_descriptor;
    void* receive_descriptor;
    const RemoteBuffers* remote; // [R] of all ranks
    std::size_t message_size;
    std::uint64_t* flags = nullptr; // the first [R] by source, where a mode tells by flags

    Route to(Rank peer, Slot* slot) const {
        const auto at = static_cast<std::size_t>(peer);
        const Region::Remote& there = remote[at].receive;
        return {peers[at], send_buffer + send_offset[at], there.address + send_offset[at], there.key, slot, peer};
    }
    Route from(Rank peer, Slot* slot) const {
        const auto at = static_cast<std::size_t>(peer);
        const Region::Remote& there = remote[at].send;
        return {peers[at], receive_buffer + receive_offset[at], there.address + receive_offset[at], there.key, slot,
                peer};
    }
};

// How much receive space a mode needs: a message of each peer in a place of its own, or places that may be shared
// when memory is short.
enum class ReceiveSpace { per_peer, shareable };

// Messages carry their source and, to keep ops apart, the low bits of the op's number.
inline constexpr int kSourceBits = 24;
inline constexpr std::uint64_t kSourceMask = (std::uint64_t{1} << kSourceBits) - 1;

// As the data of a completion. 4 bytes serve every provider: 8 bits of op above 24 bits of source.
constexpr std::uint64_t message_data(std::uint64_t op, Rank source) {
    return (op & 0xff) << kSourceBits | static_cast<std::uint64_t>(source);
}

} // namespace a2aperf
