// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/verbs_device.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "fake_verbs.hpp"

using namespace a2aperf;

namespace {

using Details = std::vector<Detail>;

std::string value_of(const Details& details, std::string_view name) {
    const auto found = std::ranges::find(details, name, &Detail::name);
    return found != details.end() ? found->value : "there is none";
}

std::string why_unknown(const Details& details, std::string_view name) {
    const auto found = std::ranges::find(details, name, &Detail::name);
    REQUIRE(found != details.end());
    CHECK(found->value.empty());
    return found->why_unknown;
}

// The device that another test does not see.
test::FakeVerbs& device_of_two_ports() {
    test::FakeVerbs& fake = test::fake_verbs(FAKE_VERBS);
    fake = {};
    std::strcpy(fake.device.fw_ver, "16.35.2000");
    fake.device.vendor_id = 0x2c9;
    fake.device.vendor_part_id = 4119;
    fake.device.node_guid = htobe64(0x506b4b0300cb0a12);
    fake.device.max_mr_size = ~0ULL;
    fake.device.page_size_cap = 0xfffff000;
    fake.device.max_qp = 131072;
    fake.device.max_qp_wr = 32768;
    fake.device.max_sge = 30;
    fake.device.max_cq = 16777216;
    fake.device.max_cqe = 4194303;
    fake.device.atomic_cap = IBV_ATOMIC_HCA;
    fake.device.phys_port_cnt = 2;
    ibv_port_attr port{};
    port.max_mtu = IBV_MTU_4096;
    port.active_mtu = IBV_MTU_1024;
    port.max_msg_sz = 0x40000000;
    port.gid_tbl_len = 255;
    port.port_cap_flags = 0x10000;
    port.active_width = 2;
    port.active_speed = 32;
    fake.ports = {{1, port}, {2, port}};
    return fake;
}

} // namespace

TEST_CASE("limits of a device and of its ports, by the names of ibv_devinfo") {
    const test::FakeVerbs& fake = device_of_two_ports();
    const Details told = verbs_details("fake0", FAKE_VERBS);
    for (const auto& limit : {std::pair{"fw_ver", "16.35.2000"},
                              {"vendor_id", "0x02c9"},
                              {"vendor_part_id", "4119"},
                              {"hw_ver", "0x0"},
                              {"node_guid", "506b:4b03:00cb:0a12"},
                              {"max_mr_size", "0xffffffffffffffff"},
                              {"page_size_cap", "0xfffff000"},
                              {"max_qp", "131072"},
                              {"max_qp_wr", "32768"},
                              {"max_sge", "30"},
                              {"max_cq", "16777216"},
                              {"max_cqe", "4194303"},
                              {"atomic_cap", "HCA"},
                              {"max_inline_data", "220"},
                              {"port 1 max_mtu", "4096"},
                              {"port 1 active_mtu", "1024"},
                              {"port 2 max_msg_sz", "1073741824"},
                              {"port 2 gid_tbl_len", "255"},
                              {"port 2 port_cap_flags", "0x00010000"},
                              {"port 2 active_width", "4X"},
                              {"port 2 active_speed", "25 Gbit/s"},
                              {"port 3 max_mtu", "there is none"}}) {
        CAPTURE(limit.first);
        CHECK(value_of(told, limit.first) == limit.second);
    }
    CHECK(fake.open == 0);
}

TEST_CASE("what goes inline is the most that a queue pair is granted") {
    test::FakeVerbs& fake = device_of_two_ports();
    for (const std::uint32_t most : {0U, 1U, 63U, 64U, 65U, 511U, 512U, 828U, 65536U})
        for (const bool refuses : {true, false}) {
            CAPTURE(most);
            CAPTURE(refuses);
            fake.most_inline = most;
            fake.refuses_more = refuses;
            fake.pairs_created = 0;
            CHECK(value_of(verbs_details("fake0", FAKE_VERBS), "max_inline_data") == std::to_string(most));
            CHECK(fake.pairs_created < 32);
            CHECK(fake.open == 0);
        }
    fake.refuses_more = true;
    fake.most_inline = 200; // asked for 193 to 200 it grants 240
    fake.inline_steps = 48;
    CHECK(value_of(verbs_details("fake0", FAKE_VERBS), "max_inline_data") == "240");
}

TEST_CASE("codes that have no name are told as they are, and no MTU is none") {
    test::FakeVerbs& fake = device_of_two_ports();
    fake.device.atomic_cap = static_cast<ibv_atomic_cap>(3);
    fake.ports[1].active_width = 3;
    fake.ports[1].active_speed = 200;
    fake.ports[1].active_mtu = static_cast<ibv_mtu>(0);
    const Details told = verbs_details("fake0", FAKE_VERBS);
    CHECK(value_of(told, "atomic_cap") == "code 3");
    CHECK(value_of(told, "port 1 active_width") == "code 3");
    CHECK(value_of(told, "port 1 active_speed") == "code 200");
    CHECK(value_of(told, "port 1 active_mtu").empty());
}

TEST_CASE("firmware that is no text of a line") {
    test::FakeVerbs& fake = device_of_two_ports();
    std::memset(fake.device.fw_ver, 'x', sizeof fake.device.fw_ver);
    CHECK(value_of(verbs_details("fake0", FAKE_VERBS), "fw_ver") == std::string(64, 'x'));
    fake.device.fw_ver[2] = '\n';
    CHECK(value_of(verbs_details("fake0", FAKE_VERBS), "fw_ver") == "xx");
}

TEST_CASE("ports are bounded") {
    test::FakeVerbs& fake = device_of_two_ports();
    fake.device.phys_port_cnt = 255;
    for (int number = 1; number < 256; ++number) fake.ports[number] = fake.ports[1];
    const Details told = verbs_details("fake0", FAKE_VERBS);
    CHECK(value_of(told, "port 8 max_mtu") == "4096");
    CHECK(value_of(told, "port 9 max_mtu") == "there is none");
}

TEST_CASE("what cannot be asked is unknown, with the reason, and nothing stays open") {
    test::FakeVerbs& fake = device_of_two_ports();
    const auto is_unknown = [&](bool& part, const char* name, const char* why) {
        part = false;
        const Details told = verbs_details("fake0", FAKE_VERBS);
        part = true;
        CHECK(why_unknown(told, name) == why);
        CHECK(fake.open == 0);
        return told;
    };
    const char* all = "attributes of verbs";
    CHECK(is_unknown(fake.has_list, all, "ibv_get_device_list: Function not implemented").size() == 1);
    CHECK(is_unknown(fake.opens, all, "ibv_open_device: Permission denied").size() == 1);
    CHECK(is_unknown(fake.tells, all, "ibv_query_device: Input/output error").size() == 1);
    const char* some = "max_inline_data";
    CHECK(value_of(is_unknown(fake.has_domains, some, "ibv_alloc_pd: Cannot allocate memory"), "max_qp") ==
          "131072");
    is_unknown(fake.has_queues, some, "ibv_create_cq: Cannot allocate memory");
    is_unknown(fake.has_pairs, some, "ibv_create_qp: Invalid argument");

    fake.ports.erase(1);
    const Details told = verbs_details("fake0", FAKE_VERBS);
    CHECK(why_unknown(told, "port 1 max_mtu") == "ibv_query_port: Invalid argument");
    CHECK(value_of(told, "port 2 max_mtu") == "4096");
}

TEST_CASE("a device that the library does not know, and a library that is not there") {
    device_of_two_ports();
    CHECK(why_unknown(verbs_details("other0", FAKE_VERBS), "attributes of verbs") ==
          "libibverbs has no driver for other0");
    CHECK(why_unknown(verbs_details("fake0", "libnot-there.so"), "attributes of verbs") ==
          "no usable libnot-there.so here");
    CHECK(why_unknown(verbs_details("fake0", "libc.so.6"), "attributes of verbs") == "no usable libc.so.6 here");
}
