# SPDX-License-Identifier: BSD-3-Clause
"""Names of variables that look like credentials; their values belong in no results file."""

import re

_CREDENTIAL = re.compile(
    r"(^|_)(JWT|TOKEN|TOKENS|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CREDENTIALS"
    r"|COOKIE|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|AUTH_?KEY)(_|$)",
    re.IGNORECASE,
)


def looks_like_credential(name: str) -> bool:
    """Whether a variable of that name probably holds a secret."""
    return _CREDENTIAL.search(name) is not None
