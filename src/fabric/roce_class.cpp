// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/roce_class.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

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
    if (find_provider(offer.provider()).name != "verbs") {
        trouble_ = fmt::format("{} does not connect over RoCE", offer.provider());
        return;
    }
    const NicFacts nic = nic_of(offer);
    const std::string port = nic.port.empty() ? "1" : nic.port;
    const std::string layer =
        first_line(fs::path("/sys/class/infiniband") / nic.name / "ports" / port / "link_layer");
    if (nic.is_rdma && layer == "Ethernet")
        look(kFolder, nic.name, port);
    else
        trouble_ = fmt::format("{}/{} is no port of RoCE", nic.name, port);
}

RoceClass::RoceClass(const fs::path& folder, const std::string& adapter, const std::string& port) {
    look(folder, adapter, port);
}

// The kernel fills a folder that is made here with the adapter's ports.
void RoceClass::look(const fs::path& folder, const std::string& adapter, const std::string& port) {
    std::error_code made;
    if (fs::create_directory(folder / adapter, made)) made_ = folder / adapter;
    file_ = folder / adapter / "ports" / port / "default_roce_tos";
    name_ = fmt::format("default_roce_tos of {}/{}", adapter, port);
    if (access(file_.c_str(), W_OK) == 0) {
        before_ = first_line(file_);
        if (before_.empty()) trouble_ = fmt::format("{} is empty", name_);
        return;
    }
    const std::error_code why = made ? made : std::error_code(errno, std::generic_category());
    trouble_ = fmt::format("{}: {}", name_, why.message());
}

bool RoceClass::set(int type_of_service) {
    if (!can_be_set()) return false;
    is_set_ = true;
    if (write_line(file_, std::to_string(type_of_service))) return true;
    trouble_ = fmt::format("{}: {} was not taken", name_, type_of_service);
    return false;
}

RoceClass::~RoceClass() {
    if (is_set_) (void)write_line(file_, before_);
    std::error_code ignored;
    if (!made_.empty()) fs::remove(made_, ignored);
}

} // namespace a2aperf
