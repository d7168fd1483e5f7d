# SPDX-License-Identifier: BSD-3-Clause
"""How names look in texts that people and programs wrote, and what only looks so."""

import pytest

from a2aperf import anonymize, looks, schema

KEY = bytes(range(32))


def scrubbed(text: str) -> str:
    """As a label of a launch."""
    pseudonyms = anonymize.Pseudonyms(KEY)
    segment = schema.Segment(nodes=["nid001"], labels={"note": text})
    anonymize._learn(pseudonyms, [segment], [])
    return pseudonyms.scrub(text)


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("uid=1000(john) gid=100(users)", "john", "user-"),
        ("ran with USER=john", "john", "user-"),
        ("LOGNAME='john'", "john", "user-"),
        ("~john", "john", "user-"),
        ("in ~john/runs", "john", "user-"),
        ("john's run", "john", "user-"),
        ("john\u2019s laptop", "john", "user-"),
        (r"C:\Users\john\x", "john", "path-"),
        (r"at C:\Users\john doe\a.h5", "john", "path-"),
        (r"\\server\share\x", "server", "path-"),
        ("./run/john", "john", "path-"),
        ("see ../john/x.sh", "john", "path-"),
        ("c1-0c0s0n1", "c1-0", "host-"),
        ("i01r02c03s04", "i01", "host-"),
        ("c401-101", "c401", "host-"),
        ("r12u03", "r12", "host-"),
        ("frontier00123", "frontier", "host-"),
        ("on jwb0123 and jsfc042", "jwb", "host-"),
        ("dgx07", "dgx", "host-"),
        ("sw-ib-12", "sw-ib", "host-"),
        ("roce0", "roce", "interface-"),
        ("irdma0", "irdma", "interface-"),
        ("em1", "em1", "interface-"),
        ("vxlan100", "vxlan", "interface-"),
        ("tailscale0", "tailscale", "interface-"),
        ("wg0.5", "wg0", "interface-"),
        ("ibs5-0", "ibs5", "interface-"),
        ("mac 0242ac110002", "0242ac", "address-"),
        ("hwaddr=0242AC110002", "0242AC", "address-"),
        ("ip_10_0_0_1", "10_0", "address-"),
    ],
)
def test_what_names_somebody_or_something_is_replaced(text: str, secret: str, kind: str) -> None:
    assert secret in text
    said = scrubbed(text)
    assert secret not in said and kind in said, said


@pytest.mark.parametrize(
    "text",
    [
        "takes ~half an hour, ~10 us",
        "today's run, last night's job, the vendor's laptop, what's job",
        "uid=0(root) gid=100(users) USER=root",
        "1/2 and/or a:b, 1000../2000, 3./4",
        "C: a drive, x:\\ nothing",
        "dgx2, em64t, en, gre, c4, r12, i7, c10-20",
        "commit 0242ac110002 of 0242ac110002",
        "1_000_000_000 and 10_0_0_1",
        "hfi1_0 mlx5_0 cxi0 self,shm,hfi",
    ],
)
def test_words_and_numbers_stay(text: str) -> None:
    assert scrubbed(text) == text


def test_a_user_is_known_wherever_something_says_so() -> None:
    assert looks.users("uid=7(erin) USER=dora ~tom/x kim's jobs") == {"erin", "dora", "tom", "kim"}
    assert looks.users("monday's run of USER=root") == set()
