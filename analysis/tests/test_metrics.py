# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from scipy.stats import binom

from a2aperf import metrics

T = 112_230.0  # ns; R = 20, B = 20000 would be 25.15 in the 2019 table at 127.23 µs


def test_percentile_rank_is_the_ceil_of_q_n_smallest() -> None:
    values = np.arange(1, 101)[::-1]
    assert metrics.percentile(values, 0.5) == 50
    assert metrics.percentile(values, 0.9) == 90
    assert metrics.percentile(values, 0.99) == 99
    assert metrics.percentile(values, 0.07) == 7  # q·n = 7.000000000000001 in floating point
    assert metrics.percentile([3.0], 0.99) == 3


def test_percentile_index_is_the_rule_of_2019() -> None:
    values = np.arange(1, 101)
    assert metrics.percentile(values, 0.5, "index") == 51
    assert metrics.percentile(values, 0.99, "index") == 100
    assert metrics.percentile_is_maximum(100, 0.99, "index")
    assert not metrics.percentile_is_maximum(100, 0.99, "rank")
    assert metrics.percentile_is_maximum(99, 0.99, "rank")


def test_percentile_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        metrics.percentile([], 0.5)


def test_interval_of_the_median_of_100_is_the_40th_and_61st() -> None:
    assert metrics.interval_indices(100, 0.5) == (39, 60)


@pytest.mark.parametrize(("q", "n"), [(0.5, 6), (0.99, 368), (0.999, 3688)])
def test_interval_exists_from_exactly_this_n(q: float, n: int) -> None:
    assert metrics.interval_indices(n - 1, q) is None
    assert metrics.interval_indices(n, q) is not None


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [6, 7, 50, 101, 400, 1000])
def test_interval_covers_at_least_95_percent_and_is_tight(q: float, n: int) -> None:
    ends = metrics.interval_indices(n, q)
    if ends is None:
        assert 1 - q**n - (1 - q) ** n < 0.975
        return
    low, high = ends[0] + 1, ends[1] + 1  # the low-th smallest ≤ quantile < the high-th smallest

    def coverage(lower: int, upper: int) -> float:
        return float(binom.cdf(upper - 1, n, q) - binom.cdf(lower - 1, n, q))

    assert coverage(low, high) >= 0.95
    assert binom.cdf(low, n, q) > 0.025  # one further in would leave too much outside
    assert binom.sf(high - 2, n, q) > 0.025


def test_rates_of_the_2019_row_80_times_2_at_35_kb() -> None:
    found = metrics.rates(160, 35000, 1_609_660.0, 1_816_420.0, [2] * 80, 100.0)
    assert found["gbps_compat"] == pytest.approx(27.83, abs=0.005)
    assert found["gbps_node_compat"] == pytest.approx(55.66, abs=0.01)
    assert found["gbps_rank"] == pytest.approx(159 * 35000 * 8 / 1_609_660)
    assert found["gbps_node_net"] == pytest.approx(8 * 35000 * 2 * 158 / 1_609_660)
    assert found["gbps_duplex"] == 2 * found["gbps_node_net"]
    assert found["gbps_node_total"] == 2 * found["gbps_rank"]
    assert found["gbps_aggregate"] == 160 * found["gbps_rank"]
    assert found["gbps_bisection"] == pytest.approx(8 * 35000 * 80 * 80 / 1_609_660)
    assert found["efficiency"] == found["gbps_node_net"] / 100
    assert found["msg_rate"] == pytest.approx(160 * 159 / 1_609_660e-9)


def test_sustained_of_the_2019_row_20_at_1000() -> None:
    found = metrics.rates(20, 1000, 67_510.0, 263_970.0, [], math.nan)
    assert round(found["gbps_sustained"], 2) == 0.58
    assert round(found["gbps_sustained_compat"], 2) == 0.61
    assert round(found["gbps_compat"], 2) == 2.37
    assert math.isnan(found["gbps_node_net"])
    assert math.isnan(found["gbps_node_total"])
    assert math.isnan(found["efficiency"])


def test_uneven_nodes_have_min_mean_and_max() -> None:
    found = metrics.rates(5, 1000, 1000.0, 1000.0, [2, 3], 100.0)
    assert found["gbps_node_net_min"] == found["gbps_node_net_max"]  # 2·3 = 3·2
    found = metrics.rates(6, 1000, 1000.0, 1000.0, [1, 2, 3], 100.0)
    assert found["gbps_node_net_min"] == 8 * 1 * 5
    assert found["gbps_node_net"] == pytest.approx(8 * (5 + 8 + 9) / 3)
    assert found["gbps_node_net_max"] == 8 * 9


def test_one_node_has_no_net_figures() -> None:
    found = metrics.rates(4, 1000, 1000.0, 1000.0, [4], 100.0)
    assert math.isnan(found["gbps_node_net"])
    assert found["gbps_node_total"] == 4 * found["gbps_rank"]


def test_bisection_of_odd_r() -> None:
    assert float(metrics.gbps_bisection(7, 1000, 1000.0)) == 8 * 3 * 4


def test_times_of_an_op() -> None:
    begin = np.array([[0, 10], [5, 0]])
    send_done = np.array([[100, 90], [80, 200]])
    recv_done = np.array([[120, 60], [90, 100]])
    end = metrics.rank_end(send_done, recv_done, "receiver")
    assert metrics.op_time(end).tolist() == [120, 200]
    assert metrics.op_span(begin, end).tolist() == [120, 200]
    assert metrics.op_span(begin + 5, end).tolist() == [115, 195]
    assert metrics.rank_time(begin, end).tolist() == [[120, 80], [85, 200]]
    assert metrics.last_rank(end) == (0, 0.5)
    assert metrics.op_time(metrics.rank_end(send_done, recv_done, "sender")).tolist() == [100, 200]


def test_autocorrelation() -> None:
    random = np.random.default_rng(1)
    assert abs(metrics.autocorrelation(random.normal(size=20_000))) < 0.03
    assert metrics.autocorrelation(np.tile([0.0, 1.0], 500)) == pytest.approx(-1, abs=0.01)
    assert math.isnan(metrics.autocorrelation([1, 1, 1, 1]))
    assert math.isnan(metrics.autocorrelation([1, 2]))


def test_time_statistics_of_one_op_claim_no_spread() -> None:
    found = metrics.time_statistics([T])
    assert found["time_p50"] == found["time_min"] == found["time_max"] == T
    assert math.isnan(found["time_stddev"])
    assert math.isnan(found["time_p50_low"])
    assert math.isnan(found["time_p99_high"])
