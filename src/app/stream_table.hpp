// SPDX-License-Identifier: BSD-3-Clause
// Points of streams as text, as they come. table: a line each; loopback: the columns of the published tables of a
// loopback test, in their order, with their names and units, a table for each mode, window and kind of stream; csv
// and json as of every workload.
#pragma once

#include <string>

#include "a2aperf/record/table.hpp"

namespace a2aperf {

class StreamTable {
public:
    StreamTable(Format format, std::span<const Column> columns, const Layout& layout, const std::string& provider);
    std::string header() const;
    std::string row(const Row& row);
    std::string footer() const;

private:
    Format format_;
    std::string title_;
    TableWriter records_;    // csv, json
    std::string last_table_; // loopback: what it is of
};

} // namespace a2aperf
