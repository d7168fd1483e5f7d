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
    Rank peer;  // of messages that are cut: the chunk's index, see TransferContext
};

// What a rank must know of a peer's buffers to write into one or to read from the other, and where its flags are.
struct RemoteBuffers {
    Region::Remote send, receive, flags;
};

struct TransferContext {
    fid_ep* endpoint;
    Rank self;
    int ranks;
    const fi_addr_t* peers; // [R], whatever is cut
    // Places in the buffers, [R]. The message to a peer lies in the peer's receive buffer where it lies in our
    // send buffer, as both follow from the distance between the two ranks, unless target_offset says another place.
    const std::size_t* send_offset;
    const std::size_t* receive_offset;
    std::byte* send_buffer;
    std::byte* receive_buffer;
    void* send_descriptor;
    void* receive_descriptor;
    const RemoteBuffers* remote; // [R] of all ranks, whatever is cut
    std::size_t message_size;
    std::uint64_t* flags = nullptr; // the first [R] by source, where a mode tells by flags
    // Of traffic that is not uniform, [R]: the bytes to and from each peer, 0 = no message, and where in the
    // buffers of a peer our message for it, or its message for us, lies.
    const Bytes* send_size = nullptr;
    const Bytes* receive_size = nullptr;
    const std::size_t* target_offset = nullptr;
    const std::size_t* source_offset = nullptr;
    // Of messages that are cut (measure/message_chunks.hpp): how many chunks a message has room for. Whatever is of
    // a rank above is then of a chunk: the n-th of the message to or from a rank has the index rank x chunks + n,
    // and self is the first of our own.
    int chunks = 1;

    std::size_t size_to(Rank peer) const { return send_size != nullptr ? send_size[peer] : message_size; }
    std::size_t size_from(Rank peer) const { return receive_size != nullptr ? receive_size[peer] : message_size; }

    Route to(Rank peer, Slot* slot) const {
        const auto at = static_cast<std::size_t>(peer);
        const Region::Remote& there = remote[peer / chunks].receive;
        const std::size_t* const target = target_offset != nullptr ? target_offset : send_offset;
        return {
            peers[peer / chunks], send_buffer + send_offset[at], there.address + target[at], there.key, slot, peer};
    }
    Route from(Rank peer, Slot* slot) const {
        const auto at = static_cast<std::size_t>(peer);
        const Region::Remote& there = remote[peer / chunks].send;
        const std::size_t* const source = source_offset != nullptr ? source_offset : receive_offset;
        return {peers[peer / chunks],
                receive_buffer + receive_offset[at],
                there.address + source[at],
                there.key,
                slot,
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
