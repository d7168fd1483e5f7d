// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/setup.hpp"

#include <string>
#include <vector>

#include "a2aperf/base/error.hpp"
#include "test/mpi/mpi_test.hpp"

using namespace a2aperf;
using test::job;

namespace {

// What the last rank says where its node is another one than those of the others.
std::string trouble(const std::vector<PointSkip>& of_others, const std::vector<PointSkip>& of_last) {
    const bool is_last = job().rank() == job().ranks() - 1;
    try {
        require_same_skips(job(), is_last ? of_last : of_others, is_last ? "mlx5_1" : "mlx5_0");
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("ranks that skip the same go on, whatever each one's reason") {
    CHECK(trouble({}, {}).empty());
    CHECK(trouble({{"a", ""}, {"b", "no"}}, {{"a", ""}, {"b", "not here"}}).empty());
}

TEST_CASE("where a rank skips what another measures all say so alike") {
    const std::string first = job().who(0) + " on mlx5_0", last = job().who(job().ranks() - 1) + " on mlx5_1";
    const std::string mend = " can: leave it out, or give a --provider or --nic that is alike on all nodes";
    CHECK(trouble({{"a", ""}, {"b", ""}, {"c", "no"}}, {{"a", ""}, {"b", "too large"}, {"c", "no"}}) ==
          "b: " + last + " cannot measure it (too large), and " + first + mend);
    CHECK(trouble({{"a", "too large"}, {"b", ""}}, {{"a", ""}, {"b", "no"}}) ==
          "a: " + first + " cannot measure it (too large), and " + last + mend);
    // What follows from the first difference may be another number of points.
    CHECK(trouble({{"a", "no"}}, {{"a", ""}, {"b", ""}}) ==
          "a: " + first + " cannot measure it (no), and " + last + mend);
}
