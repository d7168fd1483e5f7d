// SPDX-License-Identifier: BSD-3-Clause
// /segments/<i>: one launch's provenance and how it ended.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/record/recorder.hpp"
#include "a2aperf/result/provenance.hpp"
#include "h5.hpp"

namespace a2aperf {

class SegmentGroup {
public:
    static SegmentGroup create(const h5::Group& segments, int index, const Provenance& provenance,
                               const std::vector<int>& planned_order);
    static SegmentGroup open(const h5::Group& segments, int index);

    // Why, when and how it ended, with their checksum; that it did comes last, by end().
    void explain(EndState state, EndReason reason, std::string_view message, std::int64_t ended_ns) const;
    void end(EndState state) const;
    // Segments of older files don't tell a reason: those that lack one get what follows from their state.
    static void add_reasons(const h5::Group& segments);

    std::vector<std::string> nodes() const;
    std::vector<int> planned_order() const;
    std::string start_of_ops() const;        // "clock" or "barrier"
    std::vector<std::string> labels() const; // "name=value"
    // Attributes; Unreadable where one is missing or of another type.
    bool has(const char* attribute) const { return group_.has_attribute(attribute); }
    std::string text(const char* attribute) const { return group_.text_attribute(attribute); }
    std::int64_t integer(const char* attribute) const { return group_.integer_attribute(attribute); }
    double number(const char* attribute) const;
    std::map<std::string, std::string> required_environment() const; // of EnvironmentVariable::is_required

private:
    explicit SegmentGroup(h5::Group group);
    h5::Group group_;
    h5::Dataset end_state_, end_reason_, ended_, message_, end_checksum_;
};

} // namespace a2aperf
