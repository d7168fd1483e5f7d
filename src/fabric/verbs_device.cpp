// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/verbs_device.hpp"

#ifdef A2APERF_HAS_VERBS

#include <dlfcn.h>
#include <endian.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace a2aperf {
namespace {

constexpr int kMostPorts = 8;
constexpr std::uint32_t kMostInline = 1 << 16; // looked for up to it; adapters take a few hundred bytes

// The library's calls, so that the program starts without it.
struct Verbs {
    decltype(&ibv_get_device_list) get_device_list = nullptr;
    decltype(&ibv_free_device_list) free_device_list = nullptr;
    decltype(&ibv_get_device_name) get_device_name = nullptr;
    decltype(&ibv_open_device) open_device = nullptr;
    decltype(&ibv_close_device) close_device = nullptr;
    decltype(&ibv_query_device) query_device = nullptr;
    decltype(&ibv_query_port) query_port = nullptr;
    decltype(&ibv_alloc_pd) alloc_pd = nullptr;
    decltype(&ibv_dealloc_pd) dealloc_pd = nullptr;
    decltype(&ibv_create_cq) create_cq = nullptr;
    decltype(&ibv_destroy_cq) destroy_cq = nullptr;
    decltype(&ibv_create_qp) create_qp = nullptr;
    decltype(&ibv_destroy_qp) destroy_qp = nullptr;
};

// Never unloaded: libfabric uses it too.
std::optional<Verbs> load(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return std::nullopt;
    bool is_whole = true;
    const auto take = [&](auto& call, const char* name) {
        call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(handle, name));
        is_whole = is_whole && call != nullptr;
    };
    Verbs verbs;
    take(verbs.get_device_list, "ibv_get_device_list");
    take(verbs.free_device_list, "ibv_free_device_list");
    take(verbs.get_device_name, "ibv_get_device_name");
    take(verbs.open_device, "ibv_open_device");
    take(verbs.close_device, "ibv_close_device");
    take(verbs.query_device, "ibv_query_device");
    take(verbs.query_port, "ibv_query_port");
    take(verbs.alloc_pd, "ibv_alloc_pd");
    take(verbs.dealloc_pd, "ibv_dealloc_pd");
    take(verbs.create_cq, "ibv_create_cq");
    take(verbs.destroy_cq, "ibv_destroy_cq");
    take(verbs.create_qp, "ibv_create_qp");
    take(verbs.destroy_qp, "ibv_destroy_qp");
    return is_whole ? std::optional(verbs) : std::nullopt;
}

template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

std::string failed(const char* call, int error) {
    return fmt::format("{}: {}", call, std::strerror(error));
}

Detail unknown(std::string why) {
    return {"attributes of verbs", "", std::move(why)};
}

// Opened, or null with why.
Owned<ibv_context> open_device(const Verbs& verbs, const std::string& name, std::string& why) {
    Owned<ibv_context> context(nullptr, verbs.close_device);
    int count = 0;
    ibv_device** list = verbs.get_device_list(&count);
    if (list == nullptr) {
        why = failed("ibv_get_device_list", errno);
        return context;
    }
    ibv_device** const end = list + count;
    ibv_device** const found =
        std::find_if(list, end, [&](ibv_device* one) { return name == verbs.get_device_name(one); });
    if (found == end) {
        why = fmt::format("libibverbs has no driver for {}", name);
    } else {
        context.reset(verbs.open_device(*found));
        if (!context) why = failed("ibv_open_device", errno);
    }
    verbs.free_device_list(list);
    return context;
}

// What ibv_query_port() of the header does, by the calls that were loaded.
int query_port(const Verbs& verbs, ibv_context* context, std::uint8_t number, ibv_port_attr& port) {
    std::memset(&port, 0, sizeof port);
    if (verbs_context* newer = verbs_get_ctx_op(context, query_port); newer != nullptr)
        return newer->query_port(context, number, &port, sizeof port);
    return verbs.query_port(context, number, reinterpret_cast<_compat_ibv_port_attr*>(&port));
}

// What one queue pair of a single request is granted that asks for so much; nothing where it is refused.
std::optional<std::uint32_t> granted_inline(const Verbs& verbs, ibv_pd* domain, ibv_cq* queue,
                                            std::uint32_t asked) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 1;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    wanted.cap.max_inline_data = asked;
    ibv_qp* pair = verbs.create_qp(domain, &wanted);
    if (pair == nullptr) return std::nullopt;
    verbs.destroy_qp(pair);
    return wanted.cap.max_inline_data;
}

// The most that is granted: no attribute of the device tells it. libfabric's verbs provider looks for it likewise,
// and some drivers grant less than was asked rather than refuse.
Detail most_inline(const Verbs& verbs, ibv_context* context) {
    const auto told = [](std::string value, std::string why = "") {
        return Detail{"max_inline_data", std::move(value), std::move(why)};
    };
    const Owned<ibv_pd> domain(verbs.alloc_pd(context), verbs.dealloc_pd);
    if (!domain) return told("", failed("ibv_alloc_pd", errno));
    const Owned<ibv_cq> queue(verbs.create_cq(context, 2, nullptr, nullptr, 0), verbs.destroy_cq);
    if (!queue) return told("", failed("ibv_create_cq", errno));
    const auto least = granted_inline(verbs, domain.get(), queue.get(), 0);
    if (!least) return told("", failed("ibv_create_qp", errno));
    std::uint32_t most = *least, refused = kMostInline + 1;
    const auto grants = [&](std::uint32_t asked) {
        const auto granted = granted_inline(verbs, domain.get(), queue.get(), asked);
        if (!granted || *granted < asked) {
            refused = asked;
            return false;
        }
        most = std::max(most, *granted);
        return true;
    };
    for (std::uint32_t asked = std::max(64U, most + 1); asked < refused && grants(asked);)
        asked = std::max(2 * asked, most + 1);
    while (most + 1 < refused) grants(most + (refused - most) / 2);
    return told(fmt::format("{}", most));
}

std::string atomics(ibv_atomic_cap cap) {
    switch (cap) {
    case IBV_ATOMIC_NONE:
        return "none";
    case IBV_ATOMIC_HCA:
        return "HCA";
    case IBV_ATOMIC_GLOB:
        return "global";
    }
    return fmt::format("code {}", static_cast<int>(cap));
}

// IBV_MTU_256 is 1, and each further one is twice as large.
std::string mtu(ibv_mtu code) {
    const int number = static_cast<int>(code);
    return number >= 1 && number <= 5 ? fmt::format("{}", 128 << number) : "";
}

std::string width(int code) {
    switch (code) {
    case 1:
        return "1X";
    case 2:
        return "4X";
    case 4:
        return "8X";
    case 8:
        return "12X";
    case 16:
        return "2X";
    }
    return fmt::format("code {}", code);
}

// Of one lane: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR.
std::string speed(int code) {
    switch (code) {
    case 1:
        return "2.5 Gbit/s";
    case 2:
        return "5 Gbit/s";
    case 4:
    case 8:
        return "10 Gbit/s";
    case 16:
        return "14 Gbit/s";
    case 32:
        return "25 Gbit/s";
    case 64:
        return "50 Gbit/s";
    case 128:
        return "100 Gbit/s";
    }
    return fmt::format("code {}", code);
}

std::string guid_text(std::uint64_t big_endian) {
    const std::uint64_t guid = be64toh(big_endian);
    return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff, guid >> 16 & 0xffff,
                       guid & 0xffff);
}

void add_device(const ibv_device_attr& device, std::vector<Detail>& details) {
    const std::string firmware(device.fw_ver, strnlen(device.fw_ver, sizeof device.fw_ver));
    details.push_back({"fw_ver", firmware.substr(0, firmware.find('\n'))});
    details.push_back({"vendor_id", fmt::format("{:#06x}", device.vendor_id)});
    details.push_back({"vendor_part_id", fmt::format("{}", device.vendor_part_id)});
    details.push_back({"hw_ver", fmt::format("{:#x}", device.hw_ver)});
    details.push_back({"node_guid", guid_text(device.node_guid)});
    details.push_back({"max_mr_size", fmt::format("{:#x}", device.max_mr_size)});
    details.push_back({"page_size_cap", fmt::format("{:#x}", device.page_size_cap)});
    for (const auto& [name, limit] : {std::pair{"max_qp", device.max_qp},
                                      {"max_qp_wr", device.max_qp_wr},
                                      {"max_sge", device.max_sge},
                                      {"max_cq", device.max_cq},
                                      {"max_cqe", device.max_cqe}})
        details.push_back({name, fmt::format("{}", limit)});
    details.push_back({"atomic_cap", atomics(device.atomic_cap)});
}

void add_port(int number, const ibv_port_attr& port, std::vector<Detail>& details) {
    const auto add = [&](const char* name, std::string value) {
        details.push_back({fmt::format("port {} {}", number, name), std::move(value)});
    };
    add("max_mtu", mtu(port.max_mtu));
    add("active_mtu", mtu(port.active_mtu));
    add("max_msg_sz", fmt::format("{}", port.max_msg_sz));
    add("gid_tbl_len", fmt::format("{}", port.gid_tbl_len));
    add("port_cap_flags", fmt::format("{:#010x}", port.port_cap_flags));
    add("active_width", width(port.active_width));
    add("active_speed", speed(port.active_speed));
}

} // namespace

std::vector<Detail> verbs_details(const std::string& device, const std::string& library) {
    const auto verbs = load(library);
    if (!verbs) return {unknown(fmt::format("no usable {} here", library))};
    std::string why;
    const Owned<ibv_context> context = open_device(*verbs, device, why);
    if (!context) return {unknown(why)};
    ibv_device_attr attributes{};
    if (const int error = verbs->query_device(context.get(), &attributes); error != 0)
        return {unknown(failed("ibv_query_device", error))};
    std::vector<Detail> details;
    add_device(attributes, details);
    details.push_back(most_inline(*verbs, context.get()));
    for (int number = 1; number <= std::min<int>(attributes.phys_port_cnt, kMostPorts); ++number) {
        ibv_port_attr port;
        if (const int error = query_port(*verbs, context.get(), static_cast<std::uint8_t>(number), port);
            error != 0)
            details.push_back({fmt::format("port {} max_mtu", number), "", failed("ibv_query_port", error)});
        else
            add_port(number, port, details);
    }
    return details;
}

} // namespace a2aperf

#else

namespace a2aperf {

std::vector<Detail> verbs_details(const std::string&, const std::string&) {
    return {{"attributes of verbs", "", "the program was built without libibverbs's headers"}};
}

} // namespace a2aperf

#endif
