// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline.hpp"

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/mode_table.hpp"

namespace a2aperf {

void check_pipelined(const Options& options) {
    for (const std::string_view name : {"search", "baseline", "trace"})
        if (options.is_given(name))
            throw UsageError(
                fmt::format("--sync none and --{} exclude each other: that needs ops that start together", name));
    if (options.is_given("post") && options.post == Post::before)
        throw UsageError("--sync none: no op has a moment before it at which all are there: use --post inside");
    if (options.complete_at == CompleteAt::sender)
        throw UsageError("--sync none: rates are over all that ranks send and receive: use --complete-at receiver");
    if (options.format == Format::compat)
        throw UsageError("--sync none and --format compat exclude each other: its rates are those of the p50");
}

void settle_pipelined(Options& options) {
    options.post = Post::inside;
    options.with_sentinel = false;
}

// A rank may be in the op after that of a peer, and no further: it has all messages of its own.
std::optional<std::string> pipeline_trouble(const Point& point) {
    if (!point.is_pipelined()) return std::nullopt;
    if (point.forwarding) return "ops without a common start: node-aware needs all ranks to be in the same op";
    if (point.traffic)
        return "ops without a common start: who receives nothing from a peer could run ahead of it without end";
    switch (find_mode(point.mode).arrival) {
    case Arrival::receive:
    case Arrival::data:
        return std::nullopt;
    case Arrival::receive_with_data:
        return "ops without a common start: a message of the next op would take the place of one of this one";
    case Arrival::read:
        return "ops without a common start: nothing would tell a rank that its source is ready to be read";
    case Arrival::flag:
        return "ops without a common start: the next op's flag would hide that of this one";
    }
    return std::nullopt;
}

std::optional<std::string> pipeline_trouble(const Offer& offer, const Point& point) {
    if (!point.is_pipelined() || find_mode(point.mode).arrival != Arrival::data || !offer.consumes_receive())
        return std::nullopt;
    return "ops without a common start: each message takes a posted receive, and one of the next op takes one of "
           "this one";
}

} // namespace a2aperf
