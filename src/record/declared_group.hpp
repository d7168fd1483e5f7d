// SPDX-License-Identifier: BSD-3-Clause
// The group that a workload declares for what it keeps beside the samples.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "a2aperf/record/group_declaration.hpp"
#include "h5.hpp"
#include "running_checksum.hpp"

namespace a2aperf {

class DeclaredGroup {
public:
    // Every column blank. storage: of the columns that may be compressed.
    static DeclaredGroup create(const h5::File& file, GroupDeclaration declaration, h5::Storage storage);
    // Throws h5::Unreadable where the file has it otherwise than declared. Late columns it may lack, which are then
    // for copying alone: a launch that resumes it writes to a copy, which has them.
    static DeclaredGroup open(const h5::File& file, GroupDeclaration declaration);

    const GroupDeclaration& declaration() const { return declaration_; } // as long as it is in the file

    // The checksum of all of it goes on with every change. So what a launch that is killed leaves there, and its
    // samples do not tell, is vouched for.
    void write_all(const std::function<void(const PutCells& put)>& cells) const; // no cell twice
    void write_point(const Point& point, const PointResult& result) const;       // what its declaration has of it
    void clear(const std::string& column) const;                                 // blank again
    std::vector<double> read(const std::string& column, const std::vector<std::uint64_t>& places) const;
    std::vector<std::string> read_texts(const std::string& column) const; // of a fixed length

    std::int64_t checksum() const; // kNoChecksum where there is none
    // Whether it is what was written; of an older file, which has no checksum, it is taken to be.
    bool is_sound() const;

    // Everything, into a group that has room for it.
    void copy_to(const DeclaredGroup& to) const;
    // Of that the texts that were not known beforehand: no sample tells them again.
    void copy_texts_to(const DeclaredGroup& to) const;

private:
    explicit DeclaredGroup(GroupDeclaration declaration) : declaration_(std::move(declaration)) {}
    const h5::Dataset& dataset(const std::string& column) const;
    void clear(const GroupColumn& column) const;
    void put(const GroupCells& cells) const;
    void change(const std::function<void()>& what) const;
    void remake(const std::function<void()>& what) const;
    void copy(const GroupColumn& column, const DeclaredGroup& to) const;
    std::vector<char> cells(const GroupColumn& column, const h5::Elements& places) const;
    void seal() const;
    void seal_blank() const;
    void seal(std::int64_t checksum) const;

    GroupDeclaration declaration_;
    std::map<std::string, h5::Dataset> datasets_; // by their columns' names
    h5::Group group_;
    h5::Dataset checksum_;
    mutable std::unique_ptr<RunningChecksum> running_; // none: not begun, or what is there is not known
};

// With dimensions that have room for both where they may grow.
GroupDeclaration with_room_for(GroupDeclaration declaration, const GroupDeclaration& other);

} // namespace a2aperf
