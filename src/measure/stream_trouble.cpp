// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/stream_trouble.hpp"

#include <fmt/format.h>

#include "a2aperf/fabric/completion_level.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {
namespace {

// The data of a write name the buffer, and no receive waits for it.
std::optional<std::string> data_trouble(const Offer& offer, const Point& point) {
    if (offer.consumes_receive())
        return fmt::format("each write that carries data takes a posted receive of {}, and a stream has none",
                           offer.provider());
    const int messages = stream_of(point).room(point).messages;
    if (static_cast<std::uint64_t>(messages) <= kSourceMask + 1) return std::nullopt;
    return fmt::format("the data of a write name one of {} buffers, and a rank has {}", kSourceMask + 1, messages);
}

// Where its sends ask for completions of their own.
std::optional<std::string> completion_trouble(const Offer& offer, const Point& point) {
    const StreamPlan& stream = stream_of(point);
    if (!stream.asks()) return std::nullopt;
    const std::string name = offer.provider();
    const Arrival arrival = find_mode(point.mode).arrival;
    if (stream.inject == InjectUse::on) return "a message that is injected completes nowhere";
    const bool waits = arrival == Arrival::flag && point.message_size > offer.ordered_write();
    if (waits && (stream.cq_mod > 1 || stream.completion == CompletionLevel::transmit))
        return fmt::format("in mode {} each message of {} B over {} waits for the completion of its delivery",
                           point.mode, point.message_size, name);
    const bool is_counted = is_written(arrival) || (offer.matches_in_order() &&
                                                    (arrival == Arrival::receive || offer.completes_in_order()));
    if (stream.cq_mod > 1)
        if (auto why = selection_trouble(offer)) return why;
    if (stream.cq_mod > 1 && !is_counted)
        return fmt::format(
            "{} {} messages in no order: a credit would not say which of the sender's buffers are free "
            "where their sends do not complete",
            name, offer.matches_in_order() ? "completes" : "receives");
    return level_trouble(offer, stream.completion, is_written(arrival), point.message_size);
}

} // namespace

bool injects_stream(const Offer& offer, const Point& point) {
    Point silent = point;
    silent.window = 0;
    const StreamPlan& stream = stream_of(point);
    return stream.inject != InjectUse::off && !stream.asks() && uses_inject(offer, silent);
}

std::optional<std::string> stream_trouble(const Offer& offer, const Point& point) {
    if (auto why = completion_trouble(offer, point)) return why;
    if (stream_of(point).inject == InjectUse::on && !injects_stream(offer, point))
        return point.message_size > offer.inject_size()
                   ? fmt::format("messages of {} B do not go by the inject path of {}: it takes up to {} B",
                                 point.message_size, offer.provider(), offer.inject_size())
                   : fmt::format("messages of {} B do not go by the inject path of {} in mode {}",
                                 point.message_size, offer.provider(), point.mode);
    return find_mode(point.mode).arrival == Arrival::data ? data_trouble(offer, point) : std::nullopt;
}

} // namespace a2aperf
