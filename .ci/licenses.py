"""Check the licenses of everything that is installed: python .ci/licenses.py. Exits with 1 for one that is not known.

Anaphora is under Apache-2.0. What it needs at run time must be permissive, or a library under the LGPL or MPL, which
may be used unchanged. Exceptions are listed with their reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions

FINE = re.compile(
    r"\b(MIT|MIT-0|MIT-CMU|BSD|0BSD|Apache|ISC|PSF|PSFL|Python Software Foundation|CNRI|Zlib|CC0|Unlicense|BSL-1\.0"
    r"|LGPL|MPL|Mozilla|HPND)\b",
    re.IGNORECASE,
)
NOT_FINE = re.compile(r"(?<!L)\bA?GPL|Affero|GNU General Public|Proprietary|Commercial|Non-?Commercial", re.IGNORECASE)
EXCEPTIONS = {
    "krippendorff": "GPL-3.0; only the tests compare figures with it (extra dev)",
    "udapi": "GPL-3.0; stanza 1.15 depends on it (extra stanza), nothing here imports it",
    "udtools": "GPL-2.0; stanza 1.15 depends on it (extra stanza), nothing here imports it",
    "german-nouns": "CC BY-SA 4.0; a table of nouns, used as it is and not passed on (extra mine)",
}


def license_of(package: Distribution) -> str:
    """What a package says of its license: the expression, else the classifiers, else the first line of the text."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    names = [one.split(" :: ")[-1] for one in metadata.get_all("Classifier") or [] if one.startswith("License ::")]
    return "; ".join(names) or str(metadata.get("License") or "").strip().split("\n")[0]


def problems(packages: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each (name, license) that is neither fine nor an exception."""
    return [
        f"{name}: {text or 'no license in its metadata'}"
        for name, text in sorted(set(packages))
        if name.lower().replace("_", "-") not in EXCEPTIONS and (NOT_FINE.search(text) or not FINE.search(text))
    ]


def main() -> int:
    packages = [(str(one.metadata["Name"]), license_of(one)) for one in distributions()]
    found = problems(packages)
    for line in found:
        print(line)
    print(f"{len(packages)} packages, {len(found)} with a license that is not known to be fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
