// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/stream_pairs.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kHalves = "halves", kNeighbours = "neighbours";

std::optional<Rank> rank_of(std::string_view text) {
    Rank rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
    return rank;
}

StreamPair pair_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto from = rank_of(text.substr(0, colon));
    const auto to = colon == std::string_view::npos ? std::nullopt : rank_of(text.substr(colon + 1));
    if (!from || !to)
        throw UsageError(fmt::format("unknown pairs {}: expected halves, neighbours, or ranks as in 0:1,2:3",
                                     quote(std::string(text))));
    return {*from, *to};
}

void require_once(const std::vector<StreamPair>& pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i].from == pairs[i].to)
            throw UsageError(fmt::format("rank {} can't send to itself", pairs[i].from));
        for (std::size_t j = 0; j < i; ++j) {
            if (pairs[i].from == pairs[j].from)
                throw UsageError(fmt::format("rank {} sends in two pairs: one is possible", pairs[i].from));
            if (pairs[i].to == pairs[j].to)
                throw UsageError(fmt::format("rank {} receives in two pairs: one is possible", pairs[i].to));
        }
    }
}

} // namespace

StreamPairs StreamPairs::parse(std::string_view text) {
    StreamPairs pairs;
    pairs.text_ = text;
    if (text == kHalves || text == kNeighbours) return pairs;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        pairs.listed_.push_back(pair_of(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    require_once(pairs.listed_);
    return pairs;
}

std::vector<StreamPair> StreamPairs::of(int ranks) const {
    for (const StreamPair& pair : listed_)
        if (const Rank last = std::max(pair.from, pair.to); last >= ranks)
            throw UsageError(
                fmt::format("--pairs names rank {}, and there are {} ranks: 0 to {}", last, ranks, ranks - 1));
    if (!listed_.empty()) return listed_;
    if (ranks % 2 != 0)
        throw UsageError(fmt::format(
            "--pairs {} needs an even number of ranks, and there are {}: name the pairs, as in 0:1", text_, ranks));
    std::vector<StreamPair> pairs;
    for (Rank rank = 0; rank < ranks / 2; ++rank)
        pairs.push_back(text_ == kHalves ? StreamPair{rank, rank + ranks / 2} : StreamPair{2 * rank, 2 * rank + 1});
    return pairs;
}

} // namespace a2aperf
