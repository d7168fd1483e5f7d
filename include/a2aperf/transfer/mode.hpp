// SPDX-License-Identifier: BSD-3-Clause
// What a transfer mode is. A new one is a header beside this one and an entry in modes.hpp; all else that knows of
// modes reads what they declare here.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "a2aperf/transfer/context.hpp"

namespace a2aperf {

// Who starts a transfer: the source of a message or its target. A source whose messages are fetched never learns of
// it: it has no moment at which its sends are done, and what it offers stays as it is until all ranks agree that
// the op is over, or something that came of it tells.
enum class Initiator { sender, receiver };

// How the target learns that a message of this op, and of which rank, is here.
enum class Arrival {
    receive,           // a receive that matches nothing else completes
    receive_with_data, // a receive completes, whichever, with data that name op and source
    data,              // data that name op and source come to the completion queue of themselves
    read,              // its own read completes
    flag               // the op's number is written into a word that the target keeps for each source
};

// Does a message wait for a receive that takes it?
constexpr bool posts_receives(Arrival arrival) {
    return arrival == Arrival::receive || arrival == Arrival::receive_with_data;
}
// Does the sender write it into the target's memory?
constexpr bool is_written(Arrival arrival) {
    return arrival == Arrival::data || arrival == Arrival::flag;
}
// Is what a duration's messages are told by, and their credits, words in memory? Else messages of their own.
constexpr bool tells_by_words(Arrival arrival) {
    return is_written(arrival) || arrival == Arrival::read;
}
// Is a receive for one source? Else any takes any message.
constexpr bool takes_by_source(Arrival arrival) {
    return arrival == Arrival::receive || arrival == Arrival::read;
}
constexpr bool carries_data(Arrival arrival) {
    return arrival == Arrival::receive_with_data || arrival == Arrival::data;
}

// What the memory of both sides is registered for beside sending and receiving (fi_mr(3)): the source's messages,
// and their places at the target.
struct Rights {
    std::uint64_t source = 0;
    std::uint64_t target = 0;
};

template <class Mode>
concept DeclaresItself = requires {
    { Mode::kName } -> std::convertible_to<std::string_view>;
    { Mode::kAbout } -> std::convertible_to<std::string_view>;
    { Mode::kCapabilities } -> std::convertible_to<std::uint64_t>; // of the endpoint, see offers()
    { Mode::kOrder } -> std::convertible_to<std::uint64_t>;        // that it is asked for: FI_ORDER_…
    { Mode::kRights } -> std::convertible_to<Rights>;
    { Mode::kReceiveSpace } -> std::convertible_to<ReceiveSpace>;
    { Mode::kInitiator } -> std::convertible_to<Initiator>;
    { Mode::kArrival } -> std::convertible_to<Arrival>;
};

// Each call returns what libfabric's returned. Of the target: posts the receive for a message, or fetches it where
// the receiver starts the transfer.
template <class Mode>
concept ReceivesMessages = requires(const TransferContext& context, const Route& route, std::uint64_t op) {
    { Mode::receive(context, route, op) } -> std::same_as<ssize_t>;
};

// Of a source that starts transfers. label is what all messages of an op of this rank carry. inject() never
// completes; of post() the flags say whether it does, and when: with FI_COMPLETION, with the route's slot. Modes
// that carry data name op and source by message_data().
template <class Mode>
concept SendsMessages = requires(const TransferContext& context, const Route& route, std::uint64_t op,
                                 std::uint64_t label, std::uint64_t flags) {
    { Mode::label(context, op) } -> std::same_as<std::uint64_t>;
    { Mode::send(context, route, label) } -> std::same_as<ssize_t>;
    { Mode::inject(context, route, label) } -> std::same_as<ssize_t>;
    { Mode::post(context, route, label, flags) } -> std::same_as<ssize_t>;
};

// Where receives take messages, verification posts more of them into a place of its own choice, from whoever sends;
// and, where a receive can be for one source, from the route's peer.
template <class Mode>
concept TakesStrays = requires(const TransferContext& context, std::uint64_t op, std::byte* space, void* descriptor,
                               Slot* slot) {
    { Mode::receive_any(context, op, space, descriptor, slot) } -> std::same_as<ssize_t>;
};
template <class Mode>
concept TakesStraysOfEach = requires(const TransferContext& context, const Route& route, std::uint64_t op,
                                     std::byte* space, void* descriptor) {
    { Mode::receive_into(context, route, op, space, descriptor) } -> std::same_as<ssize_t>;
};

template <class Mode>
concept TakesEveryStray = (!posts_receives(Mode::kArrival) ||
                           TakesStrays<Mode>)&&(Mode::kArrival != Arrival::receive || TakesStraysOfEach<Mode>);

// Where a flag tells of a message: tell() writes it and never completes. It is posted behind the message where the
// endpoint orders writes of that size, and else after the completion of send_delivered(), which says that the
// target has the data.
template <class Mode>
concept TellsByFlag = requires(const TransferContext& context, const Route& route, std::uint64_t label) {
    { Mode::send_delivered(context, route) } -> std::same_as<ssize_t>;
    { Mode::tell(context, route, label) } -> std::same_as<ssize_t>;
};

template <class Mode>
concept TellsTheTarget = (Mode::kArrival == Arrival::flag && TellsByFlag<Mode>) ||
                         (Mode::kArrival != Arrival::flag && ReceivesMessages<Mode>);

template <class Mode>
concept StartsAtSender = (Mode::kInitiator == Initiator::sender) &&
                         (Mode::kArrival != Arrival::read) && SendsMessages<Mode>&& TakesEveryStray<Mode>;
template <class Mode>
concept StartsAtReceiver = (Mode::kInitiator == Initiator::receiver) && (Mode::kArrival == Arrival::read);

template <class Mode>
concept TransferMode = DeclaresItself<Mode> && TellsTheTarget<Mode> &&
    (StartsAtSender<Mode> || StartsAtReceiver<Mode>);

} // namespace a2aperf
