// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/op_names.hpp"

#include <string_view>

#include <fmt/format.h>

namespace a2aperf {
namespace {

std::string_view word_before(OpKind kind) {
    switch (kind) {
    case OpKind::trial:
        return "trial ";
    case OpKind::verification:
        return "verification ";
    case OpKind::warmup:
        return "warm-up ";
    case OpKind::baseline:
        return "MPI ";
    case OpKind::timed:
        break;
    }
    return "";
}

} // namespace

void OpNames::begin(OpKind kind, std::uint64_t op, int first) {
    kind_ = kind;
    from_ = op;
    first_ = first;
}

std::string OpNames::of(std::uint64_t op) const {
    if (op < from_) return "an earlier op";
    return fmt::format("{}op {}", word_before(kind_), op - from_ + static_cast<std::uint64_t>(first_));
}

} // namespace a2aperf
