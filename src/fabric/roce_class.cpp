// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/roce_class.hpp"

#include <unistd.h>

#include <fstream>

#include "a2aperf/base/text_file.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/sys/kernel/config/rdma_cm";

bool write_line(const fs::path& file, const std::string& line) {
    std::ofstream to(file);
    to << line << '\n' << std::flush;
    return to.good() && first_line(file) == line;
}

} // namespace

RoceClass::RoceClass(const Offer& offer) {
    if (find_provider(offer.provider()).name != "verbs") return;
    const NicFacts nic = nic_of(offer);
    const std::string port = nic.port.empty() ? "1" : nic.port;
    const fs::path layer = fs::path("/sys/class/infiniband") / nic.name / "ports" / port / "link_layer";
    if (nic.is_rdma && first_line(layer) == "Ethernet") look(kFolder, nic.name, port);
}

RoceClass::RoceClass(const fs::path& folder, const std::string& adapter, const std::string& port) {
    look(folder, adapter, port);
}

// The kernel fills a folder that is made here with the adapter's ports.
void RoceClass::look(const fs::path& folder, const std::string& adapter, const std::string& port) {
    std::error_code ignored;
    if (fs::create_directory(folder / adapter, ignored)) made_ = folder / adapter;
    file_ = folder / adapter / "ports" / port / "default_roce_tos";
    if (access(file_.c_str(), W_OK) == 0) before_ = first_line(file_);
}

bool RoceClass::set(int type_of_service) {
    if (!can_be_set()) return false;
    is_set_ = true;
    return write_line(file_, std::to_string(type_of_service));
}

RoceClass::~RoceClass() {
    if (is_set_) (void)write_line(file_, before_);
    std::error_code ignored;
    if (!made_.empty()) fs::remove(made_, ignored);
}

} // namespace a2aperf
