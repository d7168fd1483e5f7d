// SPDX-License-Identifier: BSD-3-Clause
// What libfabric said of a call that messages move by, as the error that ends the launch. `where`: "op 17", "in a
// stream".
#pragma once

#include <sys/types.h>

#include <string_view>

#include "a2aperf/fabric/endpoint.hpp"

namespace a2aperf {

// A call to a peer, such as "posting a receive".
[[noreturn, gnu::cold]] void fail_call(std::string_view where, ssize_t status, std::string_view call,
                                       std::string_view peer);

// Reading the completion queue.
[[noreturn, gnu::cold]] void fail_queue(std::string_view where, ssize_t status, std::string_view waiting_for);

// What the queue tells of something that was started: "an operation", "the send to rank 3".
[[noreturn, gnu::cold]] void fail_operation(std::string_view where, std::string_view what,
                                            const CompletionError& error, std::string_view waiting_for);

} // namespace a2aperf
