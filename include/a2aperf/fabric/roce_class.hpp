// SPDX-License-Identifier: BSD-3-Clause
// The class of service of RoCE connections. libfabric has no say in it: the kernel's connection manager gives those
// that are opened a type of service that is one number of an adapter's port, for all processes of the host, and
// that root may set (configfs: rdma_cm/ADAPTER/ports/PORT/default_roce_tos).
#pragma once

#include <filesystem>
#include <string>

#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

// Connections keep what they were opened with; the number is given back when this ends.
class RoceClass {
public:
    // Of the port that an offer of verbs uses, where it is one of RoCE and the number may be set. Sets nothing.
    explicit RoceClass(const Offer& offer);
    RoceClass(const std::filesystem::path& folder, const std::string& adapter, const std::string& port);
    ~RoceClass();
    RoceClass(const RoceClass&) = delete;
    RoceClass& operator=(const RoceClass&) = delete;

    bool can_be_set() const { return !before_.empty(); }
    const std::string& trouble() const { return trouble_; } // why not; empty where it can be set
    bool set(int type_of_service); // whether the kernel has taken it, else there is a trouble

private:
    void look(const std::filesystem::path& folder, const std::string& adapter, const std::string& port);

    std::filesystem::path made_; // the adapter's folder, where there was none before
    std::filesystem::path file_;
    std::string before_;         // what it held; empty: it cannot be set
    std::string name_, trouble_; // in words
    bool is_set_ = false;
};

} // namespace a2aperf
