// SPDX-License-Identifier: BSD-3-Clause
// Columns of the rates that follow from the time of an op.
#include <string_view>
#include <vector>

#include "a2aperf/record/columns.hpp"
#include "column_sources.hpp"

namespace a2aperf {

namespace {

template <class Member>
Column rate(std::string_view name, std::string_view long_name, std::string_view heading, Member member) {
    using namespace column_sources;
    return with_better(figure(name, ValueType::float64, "Gbit/s", long_name, WideFormat{heading, 1, 2}, member),
                       Better::higher);
}

} // namespace

std::vector<Column> rate_columns() {
    using namespace column_sources;
    using Kind = ValueType;
    constexpr double kPercent = 100;
    return {
        rate("gbps_rank",
             "payload each rank sends, self excluded; absent, as all rates, where ops start at a barrier and "
             "messages go "
             "one way",
             "Gbit/s/rank", &Bandwidths::rank),
        rate("gbps_compat", "throughput as in the 2019 table, message to self counted", "compat",
             &Bandwidths::compat),
        rate("gbps_node_net_min", "leaves a node through its ports, minimum over nodes", "node net min",
             &Bandwidths::node_net_min),
        rate("gbps_node_net", "leaves a node through its ports, mean over nodes", "node net",
             &Bandwidths::node_net),
        rate("gbps_node_net_max", "leaves a node through its ports, maximum over nodes", "node net max",
             &Bandwidths::node_net_max),
        rate("gbps_node_total", "ranks per node times gbps_rank", "node total", &Bandwidths::node_total),
        rate("gbps_node_compat", "ranks per node times gbps_compat", "node compat", &Bandwidths::node_compat),
        rate("gbps_duplex", "both directions of a node's ports", "duplex", &Bandwidths::duplex),
        rate("gbps_aggregate", "all ranks together", "aggregate", &Bandwidths::aggregate),
        rate("gbps_bisection", "across a balanced cut, per direction", "bisection", &Bandwidths::bisection),
        rate("gbps_sustained", "payload over the sum of all op times, slow ones included", "sustained",
             &Summary::gbps_sustained),
        rate("gbps_sustained_compat", "the same, message to self counted", "sust. compat",
             &Summary::gbps_sustained_compat),
        with_better(figure("msg_rate", Kind::float64, "1/s", "messages per second, all ranks", {"msg/s"},
                           &Bandwidths::msg_rate),
                    Better::higher),
        with_better(figure("efficiency", Kind::float64, "", "gbps_node_net over rails times link rate",
                           {"link %", kPercent, 1}, &Summary::efficiency),
                    Better::higher),
        with_unknown(figure("last_rank", Kind::int32, "", "rank that finished last most often", {"last rank"},
                            &Summary::last_rank)),
        figure("last_rank_share", Kind::float64, "", "share of the valid ops in which it finished last",
               {"last %", kPercent, 1}, &Summary::last_rank_share),
        with_better(
            figure("ratio", Kind::float64, "",
                   "median of the partner over median of this row; absent, as its interval, where ops start at a "
                   "barrier and messages go one way",
                   {"ratio", 1, 3}, &Summary::ratio),
            Better::higher),
        with_better(figure("ratio_low", Kind::float64, "", "lower end of the ratio's 95 % interval",
                           {"ratio low", 1, 3}, &Summary::ratio_low),
                    Better::higher),
        with_better(figure("ratio_high", Kind::float64, "", "upper end of the ratio's 95 % interval",
                           {"ratio high", 1, 3}, &Summary::ratio_high),
                    Better::higher),
    };
}

} // namespace a2aperf
