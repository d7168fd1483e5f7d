// SPDX-License-Identifier: BSD-3-Clause
#include "error.hpp"

#include <rdma/fi_errno.h>

#include <string>

#include <fmt/format.h>

namespace a2aperf {
namespace {

class FabricCategory final : public std::error_category {
public:
    const char* name() const noexcept override { return "libfabric"; }
    std::string message(int code) const override { return fi_strerror(code); }
    std::error_condition default_error_condition(int code) const noexcept override {
        if (code < FI_ERRNO_OFFSET) return std::generic_category().default_error_condition(code);
        return {code, *this};
    }
};

} // namespace

const std::error_category& fabric_category() {
    static const FabricCategory category;
    return category;
}

void check_fabric(long status, std::string_view call, std::string_view advice) {
    if (status >= 0) return;
    throw std::system_error(static_cast<int>(-status), fabric_category(),
                            advice.empty() ? std::string(call) : fmt::format("{} ({})", call, advice));
}

} // namespace a2aperf
