// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/region.hpp"

#include <rdma/fi_endpoint.h>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "error.hpp"

namespace a2aperf {

Region::Region(const Domain& domain, std::size_t bytes, const MemoryKind& kind, std::uint64_t rights,
               std::uint64_t key) {
    const std::span<std::byte> memory = kind.allocate(bytes);
    memory_ = {memory.data(), MemoryReleaser{&kind, memory.size()}};
    const bool is_target = (rights & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
    if (!is_target && !domain.needs(FI_MR_LOCAL)) return;
    fid_mr* registration = nullptr;
    check_fabric(
        kind.register_with(domain.get(), memory.first(bytes), FI_SEND | FI_RECV | rights, key, &registration),
        fmt::format("fi_mr_reg of {}", format_bytes(bytes)),
        "raise the limit of locked memory, ulimit -l, or lower --memory-limit");
    registration_.reset(registration);
    has_addresses_ = domain.needs(FI_MR_VIRT_ADDR);
}

void Region::enable(fid_ep* endpoint) {
    if (!registration_) return;
    check_fabric(fi_mr_bind(registration_.get(), &endpoint->fid, 0), "fi_mr_bind");
    check_fabric(fi_mr_enable(registration_.get()), "fi_mr_enable");
}

Region::Remote Region::remote() const {
    if (!registration_) return {};
    return {has_addresses_ ? reinterpret_cast<std::uintptr_t>(data()) : 0, fi_mr_key(registration_.get())};
}

} // namespace a2aperf
