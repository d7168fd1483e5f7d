// SPDX-License-Identifier: BSD-3-Clause
// Memory that messages are sent from or arrive in, registered where the provider asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "a2aperf/fabric/domain.hpp"
#include "a2aperf/fabric/memory.hpp"

namespace a2aperf {

// A right: peers write into it.
inline constexpr std::uint64_t kPeersWrite = FI_REMOTE_WRITE;

struct MemoryReleaser {
    const MemoryKind* kind = nullptr;
    std::size_t size = 0;
    void operator()(std::byte* address) const noexcept { kind->release({address, size}); }
};

class Region {
public:
    // Takes and registers bytes of zeroed memory. rights: what it is used for beside sending and receiving
    // (fi_mr(3)). key is used where the provider lets users choose; it must differ between the regions of a
    // domain.
    Region(const Domain& domain, std::size_t bytes, const MemoryKind& kind, std::uint64_t rights,
           std::uint64_t key);

    std::span<std::byte> bytes() const { return {memory_.get(), memory_.get_deleter().size}; }
    const MemoryKind& kind() const { return *memory_.get_deleter().kind; }
    std::byte* data() const { return memory_.get(); }
    void* descriptor() const { return registration_ ? fi_mr_desc(registration_.get()) : nullptr; }

    // Where the provider registers memory with an endpoint (FI_MR_ENDPOINT): before anything is sent from it or its
    // key is told, and closed before the endpoint.
    void enable(fid_ep* endpoint);
    void close() { registration_.reset(); }

    // What a peer needs to write or read here: an address that is 0 where offsets are used, and a key.
    struct Remote {
        std::uint64_t address = 0;
        std::uint64_t key = 0;
    };
    Remote remote() const;

private:
    std::unique_ptr<std::byte, MemoryReleaser> memory_;
    FidPtr<fid_mr> registration_; // closed before its memory goes
    bool has_addresses_ = false;  // peers name a place by its address and not by its offset
};

} // namespace a2aperf
