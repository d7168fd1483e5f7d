// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/error.hpp"

#include <mpi.h>

#include <array>
#include <string>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {

void check_mpi(int status, std::string_view call) {
    if (status == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    int is_started = 0;
    // MPI has words only once it runs.
    MPI_Initialized(&is_started);
    if (is_started == 0 || MPI_Error_string(status, text.data(), &length) != MPI_SUCCESS)
        throw RunError(fmt::format("{}: error {}", call, status));
    throw RunError(fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

} // namespace a2aperf
