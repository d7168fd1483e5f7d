// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/call_error.hpp"

#include <rdma/fi_errno.h>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {

void fail_call(std::string_view where, ssize_t status, std::string_view call, std::string_view peer) {
    const auto code = static_cast<int>(-status);
    throw RunError(fmt::format("{}: {} (peer {}): {}", where, call, peer, fi_strerror(code)), reason_of(code));
}

void fail_queue(std::string_view where, ssize_t status, std::string_view waiting_for) {
    const auto code = static_cast<int>(-status);
    throw RunError(
        fmt::format("{}: reading the completion queue: {}; it waits for {}", where, fi_strerror(code), waiting_for),
        reason_of(code));
}

void fail_operation(std::string_view where, std::string_view what, const CompletionError& error,
                    std::string_view waiting_for) {
    throw RunError(fmt::format("{}: {} failed: {}; it waits for {}", where, what, error.text, waiting_for),
                   reason_of(error.code));
}

} // namespace a2aperf
