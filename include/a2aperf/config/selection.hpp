// SPDX-License-Identifier: BSD-3-Clause
// Words of the command line that pick from what there is. All throw UsageError that names it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/polling.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "a2aperf/plan/window.hpp"

namespace a2aperf {

inline constexpr int kMostRanks = 1'000'000;

// auto, a provider's name, or a layered name that begins with one: "tcp;ofi_rxm".
std::string parse_provider(std::string_view text, const Catalogue& catalogue);

// nearest, all, a device's name or several: "mlx5_0,mlx5_1", or the NIC of each rank of a node:
// "0:mlx5_0,1:mlx5_1".
std::string parse_nic(std::string_view text);

// Lists: items separated by commas, in one text or several; doubles are dropped.
std::vector<std::string> parse_memories(std::span<const std::string> values, const Catalogue& catalogue);
std::vector<std::string> parse_modes(std::span<const std::string> values, const Catalogue& catalogue);
std::vector<const Schedule*> parse_schedules(std::span<const std::string> values);
std::vector<Window> parse_windows(std::span<const std::string> values); // all, 8, 256KiB
std::vector<Bytes> parse_chunks(std::span<const std::string> values);   // whole (0), 64KiB
std::vector<int> parse_endpoints(std::span<const std::string> values);
std::vector<Queues> parse_queues(std::span<const std::string> values);   // one, each
std::vector<Threads> parse_threads(std::span<const std::string> values); // one, each
std::vector<std::optional<PollingWay>>
parse_polls(std::span<const std::string> values); // auto (nothing), throttle=16

} // namespace a2aperf
