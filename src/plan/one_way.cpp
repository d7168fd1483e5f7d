// SPDX-License-Identifier: BSD-3-Clause
#include "one_way.hpp"

#include <algorithm>
#include <vector>

namespace a2aperf {
namespace {

enum class Direction { along, against };

bool leads(const TrafficMatrix& matrix, Direction direction, Rank from, Rank to) {
    return (direction == Direction::along ? matrix.weight(from, to) : matrix.weight(to, from)) > 0;
}

// Depth first from one rank over those that are not seen yet; each is given when all behind it are.
template <class Done>
void walk(const TrafficMatrix& matrix, Direction direction, Rank first, std::vector<bool>& seen, Done done) {
    struct Visit {
        Rank rank, next;
    };
    std::vector<Visit> way{{first, 0}};
    seen[static_cast<std::size_t>(first)] = true;
    while (!way.empty()) {
        Visit& here = way.back();
        while (here.next < matrix.ranks() &&
               (seen[static_cast<std::size_t>(here.next)] || !leads(matrix, direction, here.rank, here.next)))
            ++here.next;
        if (here.next == matrix.ranks()) {
            done(here.rank);
            way.pop_back();
            continue;
        }
        seen[static_cast<std::size_t>(here.next)] = true;
        way.push_back({here.next, 0});
    }
}

} // namespace

// Strongly connected parts after Kosaraju and Sharir (A strong-connectivity algorithm, Comput. Math. Appl. 7,
// 1981).
bool goes_one_way(const TrafficMatrix& matrix) {
    const auto count = static_cast<std::size_t>(matrix.ranks());
    std::vector<Rank> order;
    std::vector<bool> seen(count);
    for (Rank rank = 0; rank < matrix.ranks(); ++rank)
        if (!seen[static_cast<std::size_t>(rank)])
            walk(matrix, Direction::along, rank, seen, [&](Rank done) { order.push_back(done); });
    seen.assign(count, false);
    std::vector<Rank> part(count);
    std::reverse(order.begin(), order.end());
    for (const Rank rank : order)
        if (!seen[static_cast<std::size_t>(rank)])
            walk(matrix, Direction::against, rank, seen,
                 [&](Rank done) { part[static_cast<std::size_t>(done)] = rank; });
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to)
            if (matrix.weight(from, to) > 0 &&
                part[static_cast<std::size_t>(from)] != part[static_cast<std::size_t>(to)])
                return true;
    return false;
}

} // namespace a2aperf
