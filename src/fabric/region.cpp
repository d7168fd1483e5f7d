// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/region.hpp"

#include <rdma/fi_endpoint.h>

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/error.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

} // namespace

void Unmapper::operator()(std::byte* address) const noexcept {
    munmap(address, size);
}

Region::Region(const Domain& domain, std::size_t bytes, Pages pages, std::uint64_t rights, std::uint64_t key) {
    const std::size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("mmap of {} for message buffers", format_bytes(size)));
    memory_ = {static_cast<std::byte*>(address), Unmapper{size}};
    if (pages == Pages::huge) (void)madvise(address, size, MADV_HUGEPAGE);
    // The timed loop must not be the first to touch a page; the rank touches its own, so it is near.
    std::memset(address, 0, bytes);

    const bool is_target = (rights & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
    if (!is_target && !domain.needs(FI_MR_LOCAL)) return;
    fid_mr* registration = nullptr;
    check_fabric(
        fi_mr_reg(domain.get(), address, bytes, FI_SEND | FI_RECV | rights, 0, key, 0, &registration, nullptr),
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
