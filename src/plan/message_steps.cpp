// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/message_steps.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace a2aperf {
namespace {

constexpr int kBits = 64;

static_assert(kMostTrafficRanks <= std::numeric_limits<std::int16_t>::max());

} // namespace

int most_messages(const TrafficMatrix& matrix) {
    int most = 0;
    for (Rank rank = 0; rank < matrix.ranks(); ++rank) {
        int sent = 0;
        int received = 0;
        for (Rank peer = 0; peer < matrix.ranks(); ++peer) {
            sent += matrix.weight(rank, peer) > 0 ? 1 : 0;
            received += matrix.weight(peer, rank) > 0 ? 1 : 0;
        }
        most = std::max({most, sent, received});
    }
    return most;
}

MessageSteps MessageSteps::greedy(const TrafficMatrix& matrix) {
    MessageSteps steps(matrix.ranks(), std::max(2 * most_messages(matrix) - 1, 0));
    steps.place_all(matrix);
    return steps;
}

MessageSteps MessageSteps::coloured(const TrafficMatrix& matrix) {
    MessageSteps steps(matrix.ranks(), most_messages(matrix));
    steps.place_all(matrix);
    return steps;
}

MessageSteps::MessageSteps(int ranks, int room)
    : room_(room), words_(static_cast<std::size_t>((room + kBits - 1) / kBits)),
      targets_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(room), -1), sources_(targets_),
      sending_(static_cast<std::size_t>(ranks) * words_), receiving_(sending_) {}

// Among equals in the order of shift, so that of a matrix of equals its steps come out.
std::vector<MessageSteps::Message> MessageSteps::largest_first(const TrafficMatrix& matrix) {
    const int ranks = matrix.ranks();
    std::vector<Message> messages;
    for (int distance = 1; distance < ranks; ++distance)
        for (Rank from = 0; from < ranks; ++from) {
            const Rank to = (from + distance) % ranks;
            if (const std::uint64_t weight = matrix.weight(from, to); weight > 0)
                messages.push_back({weight, from, to});
        }
    std::stable_sort(messages.begin(), messages.end(),
                     [](const Message& left, const Message& right) { return left.weight > right.weight; });
    return messages;
}

void MessageSteps::place_all(const TrafficMatrix& matrix) {
    for (const Message& message : largest_first(matrix)) {
        int step = first_free(row(sending_, message.from), row(receiving_, message.to));
        if (step == room_) step = make_free(message.from, message.to);
        put(message.from, message.to, step);
        used_ = std::max(used_, step + 1);
    }
}

int MessageSteps::first_free(const std::uint64_t* one, const std::uint64_t* other) const {
    for (std::size_t word = 0; word < words_; ++word)
        if (const std::uint64_t busy = one[word] | other[word]; ~busy != 0)
            return std::min(static_cast<int>(word) * kBits + std::countr_one(busy), room_);
    return room_;
}

// A step in which the source sends nothing and another one in which the destination receives nothing: the messages
// of these two that hang together with the destination change places. The source is not among them, for from the
// destination on they lead to a source by the first step only, in which this one sends nothing.
int MessageSteps::make_free(Rank from, Rank to) {
    const int free_of_source = first_free(row(sending_, from), row(sending_, from));
    const int free_of_destination = first_free(row(receiving_, to), row(receiving_, to));
    std::vector<std::tuple<Rank, Rank, int>> chain; // source, destination, step
    for (Rank destination = to; destination >= 0;) {
        const Rank sender = source(destination, free_of_source);
        if (sender < 0) break;
        chain.emplace_back(sender, destination, free_of_source);
        destination = target(sender, free_of_destination);
        if (destination >= 0) chain.emplace_back(sender, destination, free_of_destination);
    }
    for (const auto& [sender, destination, step] : chain) take(sender, destination, step);
    for (const auto& [sender, destination, step] : chain)
        put(sender, destination, step == free_of_source ? free_of_destination : free_of_source);
    return free_of_source;
}

void MessageSteps::put(Rank from, Rank to, int step) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(step % kBits);
    const auto word = static_cast<std::size_t>(step / kBits);
    targets_[at(from, step)] = static_cast<std::int16_t>(to);
    sources_[at(to, step)] = static_cast<std::int16_t>(from);
    sending_[static_cast<std::size_t>(from) * words_ + word] |= bit;
    receiving_[static_cast<std::size_t>(to) * words_ + word] |= bit;
}

void MessageSteps::take(Rank from, Rank to, int step) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(step % kBits);
    const auto word = static_cast<std::size_t>(step / kBits);
    targets_[at(from, step)] = -1;
    sources_[at(to, step)] = -1;
    sending_[static_cast<std::size_t>(from) * words_ + word] &= ~bit;
    receiving_[static_cast<std::size_t>(to) * words_ + word] &= ~bit;
}

Peers MessageSteps::peers(Rank rank) const {
    Peers peers;
    for (int step = 0; step < used_; ++step) {
        if (const Rank to = target(rank, step); to >= 0) peers.sends.push_back(to);
        if (const Rank from = source(rank, step); from >= 0) peers.receives.push_back(from);
    }
    return peers;
}

} // namespace a2aperf
