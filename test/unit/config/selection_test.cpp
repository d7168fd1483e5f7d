// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/selection.hpp"

#include <doctest/doctest.h>

#include "support/catalogue.hpp"
#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::catalogue;
using a2aperf::test::refusal;

TEST_CASE("a provider is auto, a known name or a layered one") {
    for (const char* good : {"auto", "tcp", "tcp;ofi_rxm", "psm2"})
        CHECK(parse_provider(good, catalogue()) == good);
    CHECK(refusal([] { parse_provider("tpc", catalogue()); }) ==
          "unknown provider 'tpc': expected one of auto, shm, tcp, net, udp, psm2, verbs (did you mean tcp?)");
    CHECK(refusal([] { parse_provider("", catalogue()); }).starts_with("unknown provider ''"));
    CHECK(refusal([] { parse_provider("TCP", catalogue()); }).find("expected one of") != std::string::npos);
}

TEST_CASE("a NIC is nearest, a device or several, or one for each rank of a node") {
    for (const char* good : {"nearest", "all", "mlx5_0,mlx5_1", "mlx5_0/1,mlx5_0/2", "mlx5_0", "lo", "0",
                             "0:mlx5_0", "0:mlx5_0,1:mlx5_1", "fe80::1"})
        CHECK(parse_nic(good) == good);
    CHECK(refusal([] { parse_nic(""); }) == "the name of the NIC is empty");
    CHECK(refusal([] { parse_nic("0:mlx5_0,mlx5_1"); }) == "'mlx5_1' is not RANK:NIC");
    CHECK(refusal([] { parse_nic("e0,,e1"); }) == "empty item in 'e0,,e1'");
    CHECK(refusal([] { parse_nic("e0,e1,e0"); }) == "'e0,e1,e0' names a NIC twice");
    CHECK(refusal([] { parse_nic("e0,all"); }) == "'e0,all' is not a list of NICs: all stands alone");
    CHECK(refusal([] { parse_nic("0:"); }) == "'0:' is not RANK:NIC");
    CHECK(refusal([] { parse_nic("0:mlx5_0,x:mlx5_1"); }).starts_with("'x' is not a whole number"));
}

TEST_CASE("modes, schedules and windows are lists") {
    using List = std::vector<std::string>;
    CHECK(parse_modes(List{"write-imm,tagged"}, catalogue()) == List{"write-imm", "tagged"});
    CHECK(refusal([] { parse_modes(List{"taged"}, catalogue()); }) ==
          "unknown mode 'taged': expected one of tagged, msg, write-imm, read, write (did you mean tagged?)");

    const auto found = parse_schedules(List{"xor", "shift,xor"});
    REQUIRE(found.size() == 2);
    CHECK(found[0]->name == "xor");
    CHECK(found[1]->name == "shift");
    CHECK(refusal([] { parse_schedules(List{"shfit"}); }).ends_with("(did you mean shift?)"));

    CHECK(parse_windows(List{"1,8,all"}) == std::vector<Window>{{1, 0}, {8, 0}, {}});
    CHECK(parse_windows(List{"256KiB,8,64kB", "all,1K,8B"}) ==
          std::vector<Window>{{0, 262'144}, {8, 0}, {0, 64'000}, {}, {0, 1024}, {0, 8}});
    CHECK(parse_windows(List{"1KiB,1024B,08,8"}) == std::vector<Window>{{0, 1024}, {8, 0}});
    for (const char* bad : {"0", "-1", "some", "1.5", "", "99999999999", "0B", "0KiB", "-1KiB", "1.5B", "8x", "KiB",
                            "99999999999TiB"}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_windows(List{bad}); }) != "(not refused)");
    }
}

TEST_CASE("chunks are sizes or whole, endpoints numbers from 1 to 64") {
    using List = std::vector<std::string>;
    CHECK(parse_chunks(List{"64KiB,whole", "1kB,65536"}) == std::vector<Bytes>{65'536, 0, 1000});
    for (const char* bad : {"0", "0KiB", "all", "-1", "1.5B", "", "KiB", "99999999999TiB"}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_chunks(List{bad}); }) != "(not refused)");
    }
    CHECK(parse_endpoints(List{"1,4", "64,4"}) == std::vector<int>{1, 4, 64});
    for (const char* bad : {"0", "65", "-1", "two", "1.5", ""}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_endpoints(List{bad}); }) != "(not refused)");
    }
    CHECK(parse_queues(List{"one,each", "one"}) == std::vector<Queues>{Queues::one, Queues::each});
    CHECK(parse_threads(List{"each,one", "each"}) == std::vector<Threads>{Threads::each, Threads::one});
    for (const char* bad : {"two", "1", ""}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_queues(List{bad}); }) != "(not refused)");
        CHECK(refusal([&] { parse_threads(List{bad}); }) != "(not refused)");
    }
}
