// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/provider.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"

namespace a2aperf {
namespace {

void set_default(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 0);
}

// One UUID per job keeps jobs apart on the fabric; the name server would open a port per endpoint for nothing.
void tune_psm(const std::string& prefix, const LaunchFacts& facts) {
    const std::uint64_t high = mix64(facts.job_key);
    const std::uint64_t low = mix64(high);
    set_default((prefix + "_UUID").c_str(),
                fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                            low >> 48, low & 0xffffffffffff));
    set_default((prefix + "_NAME_SERVER").c_str(), "0");
}

void tune_psm2(const LaunchFacts& facts) {
    tune_psm("FI_PSM2", facts);
}

void tune_psm3(const LaunchFacts& facts) {
    tune_psm("FI_PSM3", facts);
}

// rxm's default queues take 91 MiB per rank with 320 peers. The receive queue must hold a receive per peer, and one
// for what strays.
void tune_rxm(const LaunchFacts& facts) {
    if (facts.ranks <= 128) return;
    constexpr unsigned kFewest = 512;
    const auto size = std::to_string(std::max(kFewest, std::bit_ceil(static_cast<unsigned>(facts.ranks))));
    set_default("FI_OFI_RXM_TX_SIZE", size);
    set_default("FI_OFI_RXM_RX_SIZE", size);
    set_default("FI_OFI_RXM_MSG_TX_SIZE", "64");
    set_default("FI_OFI_RXM_MSG_RX_SIZE", "64");
    set_default("FI_OFI_RXM_BUFFER_SIZE", "4096");
}

// libfabric issue 9143, mended in 1.19: without CMA a second unexpected message above the inject size is lost.
std::optional<std::string> trouble_of_shm(Bytes message_size, Bytes inject_size) {
    const char* disabled = std::getenv("FI_SHM_DISABLE_CMA");
    const bool is_without_cma = disabled != nullptr && *disabled != '0' && *disabled != '\0';
    if (!is_without_cma || message_size <= inject_size || FI_VERSION_GE(fi_version(), FI_VERSION(1, 19)))
        return std::nullopt;
    return "shm of libfabric before 1.19 loses unexpected messages where FI_SHM_DISABLE_CMA is set: remove it, or "
           "have receives posted before the op (--post before, without --baseline mpi and --sync none)";
}

// Measured on 1.17: the mask of such a receive stays in its queue entry, and the next unexpected message to get the
// entry is taken for one of any source. 1.18 brought another receive queue.
bool shm_takes_wildcards() {
    return FI_VERSION_GE(fi_version(), FI_VERSION(1, 18));
}

std::string ranks_here(int ranks, int endpoints) {
    return endpoints == 1 ? fmt::format("{} ranks here", ranks)
                          : fmt::format("{} ranks here with {} endpoints each", ranks, endpoints);
}

// An endpoint takes a context of the adapter. Opening one too many fails with words that name no cause.
std::optional<std::string> trouble_of_hfi(int ranks_on_node, int endpoints) {
    int free = 0;
    const auto devices = rdma_devices("hfi1_");
    for (const auto& device : devices) {
        int of_device = 0;
        if (!(std::ifstream("/sys/class/infiniband/" + device + "/nfreectxts") >> of_device)) return std::nullopt;
        free += of_device;
    }
    if (ranks_on_node * endpoints <= free || devices.empty()) return std::nullopt;
    const std::string needed =
        endpoints == 1 ? "a context each" : fmt::format("{} contexts", ranks_on_node * endpoints);
    return fmt::format("{} need {} and {} are free (nfreectxts): start fewer, or keep MPI off the fabric with "
                       "OMPI_MCA_pml=ob1",
                       ranks_here(ranks_on_node, endpoints), needed, free);
}

// Of an endpoint's file, and of what it takes of memory at once: measured on 1.17, with queues of its own size.
constexpr Bytes kSegment = 16U << 20U;
constexpr Bytes kSegmentAtOnce = 4U << 20U;

std::optional<Bytes> free_shared_memory() {
    std::error_code error;
    const auto space = std::filesystem::space("/dev/shm", error);
    return error ? std::nullopt : std::optional<Bytes>(space.available);
}

// Where it ends, a rank gets a signal instead of an error.
std::optional<std::string> trouble_of_shared_memory(int ranks_on_node, int endpoints) {
    for (const char* size : {"FI_SHM_TX_SIZE", "FI_SHM_RX_SIZE"})
        if (std::getenv(size) != nullptr) return std::nullopt;
    const Bytes needed = kSegmentAtOnce * static_cast<Bytes>(ranks_on_node) * static_cast<Bytes>(endpoints);
    const auto free = free_shared_memory();
    if (!free || *free >= needed) return std::nullopt;
    return fmt::format("{} need about {} in /dev/shm and {} are free: remove files there of no running process, or "
                       "start fewer",
                       ranks_here(ranks_on_node, endpoints), format_bytes(needed), format_bytes(*free));
}

// libfabric asks for as much before it offers the provider, and doesn't say so.
std::optional<std::string> too_little_shared_memory() {
    const Bytes wanted = kSegment * static_cast<Bytes>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    const auto free = free_shared_memory();
    if (!free || *free >= wanted) return std::nullopt;
    return fmt::format("libfabric wants about {} in /dev/shm and {} are free: remove files there of no running "
                       "process",
                       format_bytes(wanted), format_bytes(*free));
}

constexpr int kNoLimit = 0;
constexpr std::array kProviders{
    Provider{"opx", Reach::network, Needs::rdma_device, "hfi1_", kNoLimit, nullptr, nullptr, nullptr,
             trouble_of_hfi, "Omni-Path", "Omni-Path, successor of psm2"},
    // psm2's fi_inject_writedata writes, but leaves out the data: no completion comes at the target.
    Provider{"psm2",
             Reach::network,
             Needs::rdma_device,
             "hfi1_",
             kNoLimit,
             tune_psm2,
             nullptr,
             nullptr,
             trouble_of_hfi,
             "Omni-Path",
             "Omni-Path through libpsm2",
             false,
             true,
             true,
             false,
             1,
             false,
             true,
             true,
             "HFI_SL"},
    Provider{"cxi", Reach::network, Needs::rdma_device, "cxi", kNoLimit, nullptr, nullptr, nullptr, nullptr,
             "Slingshot", "HPE Slingshot"},
    Provider{"efa", Reach::network, Needs::rdma_device, "efa", kNoLimit, nullptr, nullptr, nullptr, nullptr, "EFA",
             "AWS Elastic Fabric Adapter"},
    Provider{"verbs", Reach::network, Needs::rdma_device, "", kNoLimit, tune_rxm, nullptr, nullptr, nullptr,
             "InfiniBand or RoCE", "InfiniBand and RoCE"},
    Provider{"psm3", Reach::network, Needs::rdma_device, "irdma", kNoLimit, tune_psm3, nullptr, nullptr, nullptr,
             "RoCE", "Intel Ethernet through PSM3", true, true, true, false, kNoLimit, false, true, true},
    Provider{"shm", Reach::host, Needs::nothing, "", 256, nullptr, trouble_of_shm, shm_takes_wildcards,
             trouble_of_shared_memory, "shared memory", "shared memory of one host", true, true, false, true,
             kNoLimit, true},
    // Its receives come from a pool that grows: measured on 1.17.
    Provider{"net", Reach::network, Needs::nothing, "", kNoLimit, nullptr, nullptr, nullptr, nullptr, "TCP",
             "TCP, libfabric 1.16 and 1.17", true, true, false, false, kNoLimit, false, false},
    Provider{"tcp", Reach::network, Needs::nothing, "", kNoLimit, tune_rxm, nullptr, nullptr, nullptr, "TCP",
             "TCP"},
    Provider{"udp", Reach::network, Needs::nothing, "", kNoLimit, nullptr, nullptr, nullptr, nullptr, "UDP",
             "UDP with libfabric's own reliability", true, false},
    Provider{"sockets", Reach::network, Needs::nothing, "", kNoLimit, nullptr, nullptr, nullptr, nullptr, "TCP",
             "TCP, for development only"},
};

} // namespace

std::span<const Provider> known_providers() {
    return kProviders;
}

const Provider& find_provider(std::string_view name) {
    const auto core = name.substr(0, name.find(';'));
    for (const auto& provider : kProviders)
        if (provider.name == core) return provider;
    std::vector<std::string_view> names{"auto"};
    for (const auto& provider : kProviders) names.push_back(provider.name);
    throw_unknown("provider", name, names);
}

bool provider_matches(std::string_view full_name, std::string_view wanted) {
    return full_name == wanted || full_name.substr(0, full_name.find(';')) == wanted;
}

std::vector<std::string> prepare_environment(std::span<const Provider* const> providers, const LaunchFacts& facts) {
    std::vector<std::string> before;
    for (char** entry = environ; *entry != nullptr; ++entry) before.emplace_back(*entry);

    // rxm and others size their queues by it; the default of 256 is too small for larger jobs and makes
    // SoftRoCE ask for more completion entries than it has.
    set_default("FI_UNIVERSE_SIZE", std::to_string(facts.ranks));
    std::string filter = "ofi_rxm,ofi_rxd";
    for (const Provider* provider : providers) {
        filter += fmt::format(",{}", provider->name);
        if (provider->tune != nullptr) provider->tune(facts);
    }
    // Starting every provider costs seconds at many ranks. Where MPI has started libfabric itself, it is late.
    if (!facts.mpi_uses_libfabric) set_default("FI_PROVIDER", filter);

    std::vector<std::string> added;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::find(before.begin(), before.end(), *entry) == before.end()) added.emplace_back(*entry);
    return added;
}

std::vector<std::string> rdma_devices(std::string_view prefix) {
    std::vector<std::string> names;
    std::error_code ignored; // no such folder: no devices
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband", ignored))
        if (auto name = entry.path().filename().string(); name.starts_with(prefix)) names.push_back(name);
    return names;
}

namespace {

InfoPtr make_hints(std::string_view provider, std::uint64_t capabilities, std::uint64_t order) {
    InfoPtr hints(fi_allocinfo());
    if (hints == nullptr) throw std::bad_alloc();
    hints->caps = capabilities & ~FI_REMOTE_CQ_DATA;
    // psm2 takes them out of its tags, and only where they are asked for.
    if ((capabilities & FI_REMOTE_CQ_DATA) != 0) hints->domain_attr->cq_data_size = 4;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = order;
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->av_type = FI_AV_TABLE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = strdup(std::string(provider).c_str());
    return hints;
}

constexpr std::uint32_t kApiVersion = FI_VERSION(1, 11);

} // namespace

std::vector<Offer> offers(std::string_view provider, std::uint64_t capabilities, std::string* reason,
                          std::uint64_t order) {
    const InfoPtr hints = make_hints(provider, capabilities, order);
    fi_info* found = nullptr;
    const int status = fi_getinfo(kApiVersion, nullptr, nullptr, 0, hints.get(), &found);
    const InfoPtr list(found);
    std::vector<Offer> matching;
    for (const fi_info* info = found; info != nullptr; info = info->next)
        if (provider_matches(info->fabric_attr->prov_name, provider))
            matching.emplace_back(InfoPtr(fi_dupinfo(info)));
    if (matching.empty() && reason != nullptr)
        *reason = status < 0 ? fi_strerror(-status) : "this libfabric has no provider of that name";
    return matching;
}

namespace {

// FI_PROVIDER is a list of names, or of those to leave out behind a '^'.
bool is_hidden(std::string_view filter, std::string_view name) {
    if (filter.empty()) return false;
    const bool is_exclusion = filter.front() == '^';
    if (is_exclusion) filter.remove_prefix(1);
    bool is_listed = false;
    while (!filter.empty()) {
        const std::string_view item = filter.substr(0, filter.find(','));
        if (provider_matches(item, name)) is_listed = true;
        filter.remove_prefix(std::min(item.size() + 1, filter.size()));
    }
    return is_listed == is_exclusion;
}

} // namespace

std::string why_missing(const Provider& provider, const std::string& words) {
    const char* const filter = std::getenv("FI_PROVIDER");
    if (filter != nullptr && is_hidden(filter, provider.name))
        return fmt::format("FI_PROVIDER={} hides it", filter);
    if (provider.needs == Needs::rdma_device && rdma_devices(provider.devices).empty())
        return fmt::format("no {} device in /sys/class/infiniband",
                           provider.devices.empty() ? "RDMA" : fmt::format("{}*", provider.devices));
    if (provider.names_segments && words == fi_strerror(FI_ENODATA))
        if (auto why = too_little_shared_memory()) return *why;
    return words == fi_strerror(FI_ENODATA) ? "this libfabric was built without it, or it finds no device" : words;
}

std::vector<Offer> query_all() {
    fi_info* found = nullptr;
    (void)fi_getinfo(kApiVersion, nullptr, nullptr, 0, nullptr, &found);
    const InfoPtr list(found);
    std::vector<Offer> all;
    for (fi_info* info = found; info != nullptr; info = info->next) all.emplace_back(InfoPtr(fi_dupinfo(info)));
    return all;
}

std::string libfabric_version() {
    return fi_tostr("", FI_TYPE_VERSION);
}

} // namespace a2aperf
