// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/last_write.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "error.hpp"

namespace a2aperf {

bool LastWrite::post(Rank peer, const Region::Remote& target) {
    const fi_addr_t to = endpoint_.peers()[static_cast<std::size_t>(peer)];
    const iovec byte{source_.data(), 1};
    void* descriptor = source_.descriptor();
    const fi_rma_iov place{target.address, 1, target.key};
    const fi_msg_rma message{&byte, &descriptor, 1, to, &place, 1, &context_, 0};
    const auto status = fi_writemsg(endpoint_.get(), &message, FI_COMPLETION); // whichever completions it gives
    if (status == -FI_EAGAIN) return false;
    check_fabric(static_cast<int>(status), "fi_writemsg");
    return true;
}

int LastWrite::progress() {
    std::array<fi_cq_data_entry, 16> entries;
    const auto count = fi_cq_read(endpoint_.queue(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return 0;
    if (count == -FI_EAVAIL) {
        const CompletionError error = endpoint_.take_error();
        throw RunError(fmt::format("the last write, or an operation before it, failed: {}", error.text),
                       reason_of(error.code));
    }
    check_fabric(static_cast<int>(count), "fi_cq_read");
    return static_cast<int>(count);
}

} // namespace a2aperf
