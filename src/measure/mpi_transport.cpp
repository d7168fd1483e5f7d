// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/mpi_transport.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace

bool mpi_uses_libfabric() {
    const std::string pml = variable("OMPI_MCA_pml");
    const std::string btl = variable("OMPI_MCA_btl");
    const bool is_off_fabric =
        (pml == "ob1" || pml == "ucx") && !btl.empty() && btl.find("ofi") == std::string::npos;
    return !is_off_fabric;
}

namespace {

// What Open MPI's settings choose between the ranks; empty where they leave it to Open MPI.
std::string network_of_mpi(bool spans_hosts) {
    const std::string pml = variable("OMPI_MCA_pml");
    const std::string btl = variable("OMPI_MCA_btl");
    const auto has = [&](std::string_view name) { return btl.find(name) != std::string::npos; };
    if (pml == "cm")
        for (const Provider& provider : known_providers())
            if (provider_matches(variable("OMPI_MCA_mtl_ofi_provider_include"), provider.name))
                return std::string(provider.network);
    if (pml != "ob1" || btl.empty() || btl.front() == '^') return {};
    const bool has_memory = has("vader") || has("sm");
    if (has_memory && !spans_hosts) return "shared memory";
    if (has("tcp")) return has_memory ? "shared memory within a node, TCP between" : "TCP";
    return {};
}

} // namespace

std::string baseline_transport(std::string_view provider, bool spans_hosts) {
    std::vector<std::string> words;
    for (const char* name :
         {"OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl",
          "OMPI_MCA_btl_vader_single_copy_mechanism", "OMPI_MCA_btl_sm_single_copy_mechanism", "UCX_TLS"})
        if (const auto value = variable(name); !value.empty()) words.push_back(fmt::format("{}={}", name, value));
    const std::string settings = words.empty() ? "no settings" : fmt::format("{}", fmt::join(words, " "));
    const std::string network = network_of_mpi(spans_hosts);
    const std::string_view ours = find_provider(provider).network;
    if (network.empty()) return fmt::format("MPI's own choice ({})", settings);
    if (network == ours) return fmt::format("{} ({})", network, settings);
    return fmt::format("{}, a different network from {}'s {} ({})", network, provider, ours, settings);
}

} // namespace a2aperf
