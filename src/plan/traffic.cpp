// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/message_steps.hpp"
#include "one_way.hpp"

namespace a2aperf {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What each rank and node sends and receives; `across`: between nodes.
struct Sums {
    explicit Sums(const Layout& layout)
        : sent(static_cast<std::size_t>(layout.ranks())), received(sent), sent_across(sent), received_across(sent),
          node_sent(static_cast<std::size_t>(layout.nodes())), node_received(node_sent) {}

    std::vector<double> sent, received, sent_across, received_across, node_sent, node_received;
    double upward = 0, downward = 0; // from the lower half of the node list to the upper one, and back
};

void add(Sums& sums, const Layout& layout, Rank from, Rank to, double bytes) {
    const auto source = static_cast<std::size_t>(from);
    const auto destination = static_cast<std::size_t>(to);
    sums.sent[source] += bytes;
    sums.received[destination] += bytes;
    const int from_node = layout.node_of(from);
    const int to_node = layout.node_of(to);
    if (from_node == to_node) return;
    sums.sent_across[source] += bytes;
    sums.received_across[destination] += bytes;
    sums.node_sent[static_cast<std::size_t>(from_node)] += bytes;
    sums.node_received[static_cast<std::size_t>(to_node)] += bytes;
    const bool is_from_lower = from_node < layout.nodes() / 2;
    const bool is_to_lower = to_node < layout.nodes() / 2;
    if (is_from_lower && !is_to_lower) sums.upward += bytes;
    if (!is_from_lower && is_to_lower) sums.downward += bytes;
}

Load most_of(const std::vector<double>& sent, const std::vector<double>& received, Busiest sends,
             Busiest receives) {
    const auto most_sent = std::max_element(sent.begin(), sent.end());
    const auto most_received = std::max_element(received.begin(), received.end());
    if (*most_sent >= *most_received) return {sends, static_cast<int>(most_sent - sent.begin()), *most_sent};
    return {receives, static_cast<int>(most_received - received.begin()), *most_received};
}

void judge(TrafficLoads& loads, const Sums& sums, const Layout& layout) {
    loads.rank = most_of(sums.sent, sums.received, Busiest::rank_sends, Busiest::rank_receives);
    if (layout.nodes() == 1) return;
    loads.rank_across =
        most_of(sums.sent_across, sums.received_across, Busiest::rank_sends, Busiest::rank_receives);
    loads.node = most_of(sums.node_sent, sums.node_received, Busiest::node_sends, Busiest::node_receives);
    const auto [least, most] = std::minmax_element(sums.node_sent.begin(), sums.node_sent.end());
    loads.node_least = *least;
    loads.node_most = *most;
    for (const double bytes : sums.node_sent) loads.across += bytes;
    loads.halves = std::max(sums.upward, sums.downward);
}

} // namespace

double TrafficLoads::rank_imbalance(const Layout& layout) const {
    return rank.bytes / (bytes / layout.ranks());
}

double TrafficLoads::node_imbalance(const Layout& layout) const {
    return across > 0 ? node.bytes / (across / layout.nodes()) : kUnknown;
}

TrafficLoads uniform_loads(const Layout& layout, Bytes message_size) {
    const auto size = static_cast<double>(message_size);
    const auto ranks = static_cast<double>(layout.ranks());
    TrafficLoads loads;
    loads.bytes = ranks * (ranks - 1) * size;
    loads.messages = ranks * (ranks - 1);
    loads.largest = message_size;
    loads.most_of_rank = message_size * static_cast<Bytes>(layout.ranks());
    Sums sums(layout);
    int lower = 0;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        const int node = layout.node_of(rank);
        const double others = ranks - layout.ranks_on_node()[static_cast<std::size_t>(node)];
        sums.sent[at] = sums.received[at] = (ranks - 1) * size;
        sums.sent_across[at] = sums.received_across[at] = others * size;
        sums.node_sent[static_cast<std::size_t>(node)] += others * size;
        if (node < layout.nodes() / 2) ++lower;
    }
    sums.node_received = sums.node_sent;
    sums.upward = sums.downward = static_cast<double>(lower) * (ranks - lower) * size;
    judge(loads, sums, layout);
    return loads;
}

TrafficLoads mean_of(const std::vector<TrafficLoads>& ops) {
    TrafficLoads mean;
    const auto count = static_cast<double>(ops.size());
    for (const TrafficLoads& op : ops) {
        mean.bytes += op.bytes / count;
        mean.across += op.across / count;
        mean.messages += op.messages / count;
        mean.largest = std::max(mean.largest, op.largest);
        mean.most_of_rank = std::max(mean.most_of_rank, op.most_of_rank);
        mean.rank.bytes += op.rank.bytes / count;
        mean.rank_across.bytes += op.rank_across.bytes / count;
        mean.node.bytes += op.node.bytes / count;
        mean.node_least += op.node_least / count;
        mean.node_most += op.node_most / count;
        mean.halves += op.halves / count;
        mean.goes_one_way = mean.goes_one_way || op.goes_one_way;
    }
    return mean;
}

TrafficBound bound_of(const TrafficLoads& loads, double rank_gbps, double node_gbps) {
    TrafficBound bound{kUnknown, {}};
    const auto consider = [&](const Load& load, double gbps) {
        if (!(gbps > 0) || load.bytes == 0) return;
        const double ns = 8 * load.bytes / gbps; // 1 Gbit/s = 1 bit/ns
        if (!(bound.ns >= ns)) bound = {ns, load};
    };
    consider(loads.node, node_gbps);
    consider(loads.rank_across, rank_gbps);
    return bound;
}

std::string words_of(const Load& load) {
    switch (load.who) {
    case Busiest::none:
        break;
    case Busiest::rank_sends:
        return fmt::format("rank {} sends", load.index);
    case Busiest::rank_receives:
        return fmt::format("rank {} receives", load.index);
    case Busiest::node_sends:
        return fmt::format("node {} sends", load.index);
    case Busiest::node_receives:
        return fmt::format("node {} receives", load.index);
    }
    return {};
}

Traffic::Traffic(std::string name, int index, std::shared_ptr<const TrafficMatrix> matrix, const Layout& layout,
                 Bytes mean_size)
    : name_(std::move(name)), index_(index), matrix_(std::move(matrix)), mean_size_(mean_size) {
    weigh(layout);
}

Traffic::Traffic(std::string name, int index, std::shared_ptr<const TrafficDraws> draws, const Layout& layout,
                 Bytes mean_size)
    : Traffic(std::move(name), index, std::make_shared<TrafficMatrix>(draws->matrix(0)), layout, mean_size) {
    draw_loads_.push_back(loads_);
    for (int op = 1; op < draws->count(); ++op)
        draw_loads_.push_back(
            Traffic(name_, index, std::make_shared<TrafficMatrix>(draws->matrix(op)), layout, mean_size).loads_);
    loads_ = mean_of(draw_loads_);
    draws_ = std::move(draws);
}

Traffic Traffic::of_op(int op, const Layout& layout) const {
    if (!draws_) return *this;
    Traffic other(name_, index_, std::make_shared<TrafficMatrix>(draws_->matrix(op)), layout, mean_size_);
    other.loads_.largest = loads_.largest;
    other.loads_.most_of_rank = loads_.most_of_rank;
    return other;
}

double Traffic::most_messages() const {
    double sum = 0;
    for (int op = 0; op < draws(); ++op) sum += a2aperf::most_messages(matrix_of_op(op));
    return sum / draws();
}

void Traffic::weigh(const Layout& layout) {
    total_weight_ = matrix_->total();
    constexpr auto kMost = static_cast<Bytes>(std::numeric_limits<std::int64_t>::max());
    const auto pairs = static_cast<Bytes>(layout.ranks()) * static_cast<Bytes>(layout.ranks() - 1);
    if (mean_size_ > kMost / pairs)
        throw UsageError(
            fmt::format("--sizes: {} B from each of {} ranks to each other one are more than {} B in one op",
                        mean_size_, layout.ranks(), kMost));
    all_ = mean_size_ * pairs;
    Sums sums(layout);
    std::vector<Bytes> send_room(sums.sent.size());
    std::vector<Bytes> receive_room(sums.sent.size());
    std::vector<Bytes> largest(sums.sent.size());
    std::vector<Bytes> receives(sums.sent.size());
    for (Rank from = 0; from < layout.ranks(); ++from)
        for (Rank to = 0; to < layout.ranks(); ++to) {
            const Bytes size = bytes(from, to);
            if (size == 0) continue;
            const auto destination = static_cast<std::size_t>(to);
            ++loads_.messages;
            loads_.bytes += static_cast<double>(size);
            loads_.largest = std::max(loads_.largest, size);
            send_room[static_cast<std::size_t>(from)] += message_room(size);
            receive_room[destination] += message_room(size);
            largest[destination] = std::max(largest[destination], size);
            ++receives[destination];
            add(sums, layout, from, to, static_cast<double>(size));
        }
    for (std::size_t rank = 0; rank < send_room.size(); ++rank)
        loads_.most_of_rank = std::max({loads_.most_of_rank, send_room[rank], receive_room[rank],
                                        receives[rank] * message_room(largest[rank])});
    loads_.most_of_rank += kBeforeMessages;
    loads_.goes_one_way = goes_one_way(*matrix_);
    judge(loads_, sums, layout);
}

Bytes Traffic::bytes(Rank from, Rank to) const {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t weight = matrix_->weight(from, to);
    if (weight == 0) return 0;
    const Wide exact = static_cast<Wide>(weight) * all_ + total_weight_ / 2;
    return std::max<Bytes>(static_cast<Bytes>(exact / total_weight_), 1);
}

MessagePlaces places_of(const Traffic& traffic, Rank rank, ReceivePlaces receives, Bytes chunk) {
    const int ranks = traffic.matrix().ranks();
    const auto count = static_cast<std::size_t>(ranks);
    MessagePlaces places{.send = std::vector<Bytes>(count),
                         .receive = std::vector<Bytes>(count),
                         .send_offset = std::vector<std::size_t>(count),
                         .receive_offset = std::vector<std::size_t>(count),
                         .target_offset = std::vector<std::size_t>(count, kBeforeMessages),
                         .source_offset = std::vector<std::size_t>(count, kBeforeMessages)};
    Bytes largest = 0;
    for (Rank peer = 0; peer < ranks; ++peer) {
        const auto at = static_cast<std::size_t>(peer);
        places.send[at] = traffic.bytes(rank, peer);
        places.receive[at] = traffic.bytes(peer, rank);
        largest = std::max(largest, places.receive[at]);
        for (Rank before = 0; before < rank; ++before) {
            places.target_offset[at] += message_room(traffic.bytes(before, peer), chunk);
            places.source_offset[at] += message_room(traffic.bytes(peer, before), chunk);
        }
    }
    std::size_t sent = kBeforeMessages;
    std::size_t received = kBeforeMessages;
    for (std::size_t at = 0; at < count; ++at) {
        if (receives == ReceivePlaces::of_any && places.receive[at] > 0) places.receive[at] = largest;
        places.send_offset[at] = sent;
        places.receive_offset[at] = received;
        sent += message_room(places.send[at], chunk);
        received += message_room(places.receive[at], chunk);
    }
    return places;
}

} // namespace a2aperf
