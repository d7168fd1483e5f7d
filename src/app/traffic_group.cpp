// SPDX-License-Identifier: BSD-3-Clause
#include "traffic_group.hpp"

#include <map>

namespace a2aperf {
namespace {

std::map<int, const Traffic*> by_index(const Plan& plan) {
    std::map<int, const Traffic*> traffics;
    for (const Point& point : plan.points)
        if (point.traffic) traffics.emplace(point.traffic->index(), point.traffic.get());
    return traffics;
}

} // namespace

std::optional<GroupDeclaration> traffic_group(const Plan& plan, int ranks) {
    const auto traffics = by_index(plan);
    if (traffics.empty()) return std::nullopt;
    GroupDeclaration group;
    group.name = "matrices";
    const Traffic& last = *traffics.rbegin()->second;
    group.dimensions = {{.name = "matrix", .length = last.index() + last.draws()},
                        {.name = "source", .length = ranks},
                        {.name = "destination", .length = ranks}};
    group.columns = {{.name = "weight",
                      .type = ValueType::int64,
                      .dimensions = {"matrix", "source", "destination"},
                      .long_name = "share of the bytes from source to destination; 0 = no message",
                      .is_compressed = true}};
    return group;
}

namespace {

// A row at a time.
void put_matrix(const PutCells& put, const TrafficMatrix& matrix, int index) {
    for (Rank from = 0; from < matrix.ranks(); ++from) {
        GroupCells row{"weight", {}, {}};
        std::vector<std::int64_t> weights;
        for (Rank to = 0; to < matrix.ranks(); ++to) {
            row.places.insert(row.places.end(), {static_cast<std::uint64_t>(index),
                                                 static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)});
            weights.push_back(static_cast<std::int64_t>(matrix.weight(from, to)));
        }
        row.values = std::move(weights);
        put(row);
    }
}

} // namespace

void write_traffic(Recorder& recorder, const Plan& plan) {
    const auto traffics = by_index(plan);
    if (traffics.empty()) return; // and no group
    recorder.write_all([&](const PutCells& put) {
        for (const auto& [index, traffic] : traffics)
            for (int op = 0; op < traffic->draws(); ++op) put_matrix(put, traffic->matrix_of_op(op), index + op);
    });
}

} // namespace a2aperf
