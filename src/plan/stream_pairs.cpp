// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/stream_pairs.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kHalves = "halves", kNeighbours = "neighbours", kLoopback = "loopback",
                           kAllToOne = "all-to-one", kOneToAll = "one-to-all";
constexpr std::string_view kWords[] = {kHalves, kNeighbours, kAllToOne, kOneToAll, kLoopback};

std::optional<Rank> rank_of(std::string_view text) {
    Rank rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
    return rank;
}

// The last one makes each rank its own partner.
std::span<const std::string_view> words_of(Partners partners) {
    return std::span(kWords).first(std::size(kWords) - (partners == Partners::others ? 1 : 0));
}

StreamPair pair_of(std::string_view text, Partners partners) {
    const std::size_t colon = text.find(':');
    const auto from = rank_of(text.substr(0, colon));
    const auto to = colon == std::string_view::npos ? std::nullopt : rank_of(text.substr(colon + 1));
    if (!from || !to)
        throw UsageError(fmt::format("unknown pairs {}: expected {}, or ranks as in 0:1,2:3",
                                     quote(std::string(text)), fmt::join(words_of(partners), ", ")));
    return {*from, *to};
}

void require_once(const std::vector<StreamPair>& pairs, Partners partners) {
    std::set<std::pair<Rank, Rank>> seen;
    for (const auto& [from, to] : pairs) {
        if (from == to)
            throw UsageError(
                partners == Partners::others
                    ? fmt::format("rank {} can't be its own partner", from)
                    : fmt::format("rank {} can't send to itself among others: all do in --pairs loopback", from));
        if (!seen.emplace(from, to).second)
            throw UsageError(fmt::format("the pair {}:{} is there twice", from, to));
    }
}

} // namespace

StreamPairs StreamPairs::parse(std::string_view text, Partners partners, std::string_view option) {
    StreamPairs pairs;
    pairs.text_ = text;
    pairs.option_ = option;
    const auto words = words_of(partners);
    if (std::ranges::find(words, text) != words.end()) return pairs;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        pairs.listed_.push_back(pair_of(text.substr(begin, end - begin), partners));
        begin = end + 1;
    }
    require_once(pairs.listed_, partners);
    return pairs;
}

StreamPairs StreamPairs::between(int clients, int servers) {
    StreamPairs pairs;
    const auto words = [](std::string_view what, int count) {
        return count < 0 ? "" : fmt::format("{} {}", what, count);
    };
    const std::string of_clients = words("clients", clients), of_servers = words("servers", servers);
    pairs.text_ = of_clients + (of_clients.empty() || of_servers.empty() ? "" : " ") + of_servers;
    pairs.clients_ = clients;
    pairs.servers_ = servers;
    return pairs;
}

bool StreamPairs::is_loopback() const {
    return text_ == kLoopback;
}

std::vector<StreamPair> StreamPairs::of(int ranks, bool is_duplex) const {
    std::vector<StreamPair> pairs = one_way(ranks);
    if (!is_duplex) return pairs;
    for (std::size_t i = 0, count = pairs.size(); i < count; ++i) pairs.push_back({pairs[i].to, pairs[i].from});
    require_once(pairs, Partners::itself_too);
    return pairs;
}

std::vector<StreamPair> StreamPairs::first_to_last(int ranks) const {
    const int clients = clients_ < 0 ? ranks - servers_ : clients_;
    const int servers = servers_ < 0 ? ranks - clients_ : servers_;
    if (clients < 1 || servers < 1 || clients > ranks - servers)
        throw UsageError(fmt::format("{} and {} need {} ranks, and there are {}",
                                     counted(std::max(clients, 1), "client"),
                                     counted(std::max(servers, 1), "server"),
                                     std::int64_t{std::max(clients, 1)} + std::max(servers, 1), ranks));
    std::vector<StreamPair> pairs;
    for (int i = 0; i < std::max(clients, servers); ++i)
        pairs.push_back({i % clients, ranks - servers + i % servers});
    return pairs;
}

std::vector<StreamPair> StreamPairs::one_way(int ranks) const {
    for (const StreamPair& pair : listed_)
        if (const Rank last = std::max(pair.from, pair.to); last >= ranks)
            throw UsageError(
                fmt::format("{} names rank {}, and there are {} ranks: 0 to {}", option_, last, ranks, ranks - 1));
    if (!listed_.empty()) return listed_;
    if (clients_ != 0) return first_to_last(ranks);
    std::vector<StreamPair> pairs;
    if (is_loopback())
        for (Rank rank = 0; rank < ranks; ++rank) pairs.push_back({rank, rank});
    if (text_ == kAllToOne)
        for (Rank rank = 1; rank < ranks; ++rank) pairs.push_back({rank, 0});
    if (text_ == kOneToAll)
        for (Rank rank = 1; rank < ranks; ++rank) pairs.push_back({0, rank});
    if (text_ != kHalves && text_ != kNeighbours) return pairs;
    if (ranks % 2 != 0)
        throw UsageError(
            fmt::format("{} {} needs an even number of ranks, and there are {}: name the pairs, as in 0:1", option_,
                        text_, ranks));
    for (Rank rank = 0; rank < ranks / 2; ++rank)
        pairs.push_back(text_ == kHalves ? StreamPair{rank, rank + ranks / 2} : StreamPair{2 * rank, 2 * rank + 1});
    return pairs;
}

} // namespace a2aperf
