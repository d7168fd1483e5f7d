// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/end_reason.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include "a2aperf/base/error.hpp"

namespace a2aperf {

EndReason reason_of(int error_number) {
    switch (error_number) {
    case ENOMEM:
        return EndReason::out_of_memory;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: // the process's own limit
        return EndReason::disk_full;
    case ECONNRESET:
    case ECONNABORTED:
    case ECONNREFUSED:
    case ENOTCONN:
    case EPIPE:
    case ESHUTDOWN:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return EndReason::peer_lost;
    case ETIMEDOUT:
        return EndReason::fabric_deadline;
    default:
        return EndReason::other;
    }
}

EndReason reason_of(const std::exception& error) {
    if (const auto* run = dynamic_cast<const RunError*>(&error)) return run->reason();
    if (dynamic_cast<const Interrupted*>(&error) != nullptr) return EndReason::signal;
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return EndReason::out_of_memory;
    if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
        const std::error_condition condition = system->code().default_error_condition();
        if (condition.category() == std::generic_category()) return reason_of(condition.value());
    }
    return EndReason::other;
}

} // namespace a2aperf
