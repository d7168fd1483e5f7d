// SPDX-License-Identifier: BSD-3-Clause
// A small launch to record: what the tests of this folder share.
#pragma once

#include <filesystem>
#include <string>

#include "a2aperf/base/error.hpp"
#include "a2aperf/record/recorder.hpp"
#include "support/schema.hpp"
#include "support/synthetic.hpp"

namespace a2aperf::test {

struct Launch {
    Layout layout = Layout::blocks(4, 2);
    Plan plan = synthetic_plan(9); // point 7 is skipped
    Provenance provenance = synthetic_provenance(layout);
    RecorderSettings settings;

    explicit Launch(const std::filesystem::path& file) {
        settings.file = file;
        settings.max_attempts = 20;
        settings.provider = "tcp;ofi_rxm";
        settings.schema = kSchema;
    }

    Recorder create() const { return Recorder::create(settings, plan, layout, provenance); }
    Recorder resume() const { return Recorder::resume(settings, plan, layout, provenance); }
    PointResult result(int point) const {
        return synthetic_result(point, plan, layout, synthetic_attempts(point, settings.max_attempts), provenance);
    }
};

// What a UsageError says; empty when none is thrown.
template <class Function>
std::string complaint(Function function) {
    try {
        function();
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace a2aperf::test
