# SPDX-License-Identifier: BSD-3-Clause
"""How names of hosts, users, interfaces, paths and addresses look in any text."""

from __future__ import annotations

import re
from collections.abc import Iterable

ADDRESS = re.compile(
    r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w)"  # IPv4 in IPv6
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w)"  # IPv4
    r"|(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,31}[0-9a-fA-F]{0,5}(?![\w:])"  # IPv6 (:port), GID, MAC
    r"|\b(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}\b"  # MAC, as some systems write it
    r"|(?<![\w.])(?=[\d.]*[a-fA-F])(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}(?!\w|\.\w)"  # as switches
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"  # UUID
    r"|(?<=ip_)(?:\d{1,3}_){3}\d{1,3}(?![^\W_])"
    r"|(?i:(?<=\bmac )|(?<=\bmac=)|(?<=\bmac:)|(?<=\bhwaddr )|(?<=\bhwaddr=))[0-9a-fA-F]{12}\b"
)
"""What may be one; `is_address` decides."""
GUID = re.compile(
    r"(?<!tag_format: )\b(?:0x)?[0-9a-fA-F]{16}\b"  # bits of a tag, in fi_info, are no GUID
    r"|(?i:(?<=\blid )|(?<=\blid=)|(?<=\blid:))\s*(?:0x)?[0-9a-fA-F]+\b"
)
LID = re.compile(r"\b0x(?!0+\b)[0-9a-fA-F]{1,8}\b")
"""Of a port, in a text that has no other hexadecimal numbers; 0 is none."""
INTERFACE = re.compile(
    r"(?<![\w.-])(?:ib|eth|en[opsxP]|wl|bond|br|virbr|docker|veth|hsn|ipo|opa|usb|vlan|team|tun|tap)"
    r"(?=\w*\d)\w+(?:\.\d+)?(?![\w-])"
    r"|(?<![\w.-])p\d+p\d+(?![\w-])"
    r"|(?<![\w.-])(?:i?rdma|roce|iw|em|en|wg|tailscale|ppp|gre|gretap|vxlan|geneve|vnet|macvlan|macvtap"
    r"|ipvlan|dummy|ifb|sit|lxcbr|cni|flannel|cali|ovs-br)\d{1,5}(?:\.\d+)?(?![\w-])"
    r"|(?<![\w.-])ibs\d+(?:[fd]\d+)?-\d+(?![\w-])"  # as a switch or a system of several counts them
    r"|(?<=[^\W_]-)(?:ib|eth|hsn|bond|br|opa)\d{1,3}(?![^\W_])"  # of a host: `nid001-eth0`
    r"|(?<![\w.-])mlx[45]_(?!(?:core|ib|en|bond)(?![A-Za-z]))(?=[A-Za-z])\w+"  # `mlx5_site0`
)
"""Names of interfaces: `ib0`, `enp65s0f1`; of adapters only what a site named, not `mlx5_0`."""
DOTTED = re.compile(
    r"(?:(?<![\w./@-])|(?<=//))(?:[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}(?![\w-]|\.\w)"
)
_LIST = r"\[\d[\d,-]*\]"
NUMBERED = re.compile(
    r"(?<![\w-])(?:"
    r"(?:(?:cn|gpu|cpu|n)[-_]?|(?:[a-z]+-?\d*-)*(?i:nid|c?node|compute|login|frontend|host|rack|chassis"
    r"|blade|server|storage|mds|oss|worker|head|mgmt|switch|leaf|spine)[-_]?)"
    rf"(?:\d{{1,6}}(?:[-_]?[a-z]+\d+|-\d+)*|{_LIST})"
    r"|x\d{3,5}c\d{1,3}(?:[sr]\d+(?:[bj]\d+(?:n\d+)?)?)?"  # a cabinet, a chassis, a slot, ...
    r"|c\d+-\d+c\d+s\d+n\d+"  # a cabinet of a row, a chassis, a slot, a node
    r"|i\d{2}r\d{2}c\d{2}s\d{2}"  # an island, a rack, a chassis, a slot
    r"|r\d+i\d+n\d+"  # a rack, a unit, a node
    r"|r\d{2,}u\d{2,}(?:n\d+)?"  # a rack, a height in it
    r"|c\d{3}-\d{3}"  # a rack, a place in it
    r"|(?:jsfc|jwb|jwc|jrc|jrlogin|tux|frontier|quartz|taurusi?|hawk|lrz|sw-[a-z]+)-?\d{1,6}"
    r"|dgx-?\d{2,4}|sw-[a-z]+-\d{1,4}"
    r"|ip-(?:\d{1,3}-){3}\d{1,3}"  # of a cloud
    r")(?![\w-])"
)
"""Names of hosts as clusters count them, and lists of such: `nid[001-004]`."""
_OWN_LETTERS = 3
"""Letters from which on a name with other digits is taken for a host of the same cluster."""
_DIGITS = re.compile(r"\d+")
FILE = re.compile(
    r"(?i)\.(?:h5|hdf5|txt|log|conf|cfg|toml|ya?ml|json|csv|html|sh|py|so|a|cpp?|hpp?|map|in)$"
)
AT = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]*)@([\w.-]+)")
HOME = re.compile(r"/(?:home|users|u|scratch|work|project|data)/(?:users/)?([A-Za-z_][\w.-]*)")
USER = re.compile(
    r"(?:\b[es]?[ug]id=\d+\("  # as `id` prints it
    r"|(?<![^\W_])(?:USER|USERNAME|LOGNAME|OWNER)=[\"']?)([A-Za-z_][\w.-]*\w)"
    r"|(?<![\w~/])~([A-Za-z_][\w.-]*\w)(?=/)"
    r"|^~([A-Za-z_][\w.-]*\w)$"
    r"|\b([A-Za-z_][\w-]*\w)['\u2019]s (?:run|job|account|home|laptop|workstation|desktop)s?\b"
)
"""Where something says that it is of somebody: `uid=1000(erin)`, `USER=erin`, `~erin/`."""
_NOBODY = frozenset(
    "root nobody user users wheel staff sudo adm admin docker video render slurm operator guest "
    "he she it that this there here what who one somebody everybody everyone other others let "
    "today yesterday tomorrow morning evening night week weekend month year day last "
    "monday tuesday wednesday thursday friday saturday sunday "
    "vendor site cluster partition team group colleague machine node rank host job launch run "
    "kernel provider sender receiver program a2aperf libfabric mpi mpirun openmpi".split()
)
"""Words that may stand there, too."""
_PART = r"[\w.+@%=,-]+"
PATH = re.compile(
    r"(?<![\w./])~?/[\w.+@%=,-]+(?:/[\w.+@%=,-]*)*"
    rf"|(?<![\w./])~[A-Za-z_]\w*/{_PART}(?:/{_PART})*"
    rf"|(?<![\w./])\.\.?/{_PART}(?:/[\w.+@%=,-]*)*"
    rf"|(?<![\w.])[A-Za-z]:\\(?:[\w.+@%=,$ -]+\\)*{_PART}"  # of Windows
    rf"|(?<![\w\\])\\\\[\w.$-]+(?:\\{_PART})+"  # of its shares
)


def users(text: str) -> set[str]:
    """Names of people, where something says that they are."""
    found = {name for names in USER.findall(text) for name in names}
    return {name for name in found if name and name.lower() not in _NOBODY}


def is_address(text: str) -> bool:
    """Whether what ADDRESS found is one: `1:2:3` may be a list of numbers, `::` punctuation."""
    groups = text.split(":")
    if len(groups) == 4 and all(len(group) == 4 for group in groups):
        return True  # a GUID
    if "-" in text or "_" in text or text.count(".") >= 2:
        return True
    if text.isalnum():  # a MAC, and a word before it says so
        return True
    return text != "::" and (text.count(":") >= 4 or "::" in text)


def kin(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """Names that differ from those of these hosts in their numbers only, and lists of such."""
    names = {host.partition(".")[0] for host in hosts}
    found = sorted(
        _DIGITS.sub(r"\\d+", re.escape(name)).removesuffix(r"\d+")
        for name in names
        if name[-1:].isdigit() and sum(map(str.isalpha, name)) >= _OWN_LETTERS
    )
    if not found:
        return None
    return re.compile(rf"(?<![\w-])(?:{'|'.join(dict.fromkeys(found))})(?:\d+|{_LIST})(?![\w-])")
