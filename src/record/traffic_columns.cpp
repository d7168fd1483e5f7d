// SPDX-License-Identifier: BSD-3-Clause
// Columns of who sends how much to whom.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/record/columns.hpp"
#include "column_sources.hpp"

namespace a2aperf {

std::vector<Column> traffic_columns() {
    using namespace column_sources;
    using Kind = ValueType;
    constexpr double kPercent = 100;
    Column traffic = asked("traffic", Kind::text, "who sends how much to whom: uniform, a generator, or a file",
                           {"traffic"}, [](const PointRequest& a) { return a.point.traffic_name(); });
    return {
        std::move(traffic),
        asked_column("traffic_matrix", Kind::int32, "", "row of the weights in matrices, -1 = uniform",
                     [](const Point& point) { return to_value(point.traffic ? point.traffic->index() : -1); }),
        asked_column("traffic_digest", Kind::int64, "", "of the matrix, the same of the same one, -1 = uniform",
                     [](const Point& point) {
                         return to_value(point.traffic ? static_cast<std::int64_t>(point.traffic->digest())
                                                       : std::int64_t{-1});
                     }),
        asked_column("traffic_draws", Kind::int32, "", "matrices that the ops take in turn, from that one on",
                     [](const Point& point) { return to_value(point.draws()); }),
        with_unknown(
            figure("largest_message", Kind::int64, "B", "largest message of an op", {}, &Summary::largest_message)),
        figure("imbalance", Kind::float64, "", "most that a rank sends or receives, over the mean",
               {"imbalance", 1, 2}, &Summary::imbalance),
        figure("node_imbalance", Kind::float64, "", "the same of nodes and what passes between them", {},
               &Summary::node_imbalance),
        with_flags(figure("busiest", Kind::int8, "",
                          "who has most to move: of the bound, and where there is none of the ranks", {},
                          &Summary::busiest),
                   {"none", "rank-sends", "rank-receives", "node-sends", "node-receives"}),
        with_unknown(
            figure("busiest_index", Kind::int32, "", "which rank or node that is", {}, &Summary::busiest_index)),
        figure("bound", Kind::float64, "ns",
               "shortest time that the links allow: bytes of the busiest over the rate of what carries them",
               WideFormat{"bound", kMicroseconds, 2}, &Summary::bound),
        with_better(
            figure("bound_share", Kind::float64, "",
                   "bound over the time of an op; absent where ops start at a barrier and messages go one way",
                   {"bound %", kPercent, 1}, &Summary::bound_share),
            Better::higher),
    };
}

} // namespace a2aperf
