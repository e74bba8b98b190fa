"""The license check of the public workflow: what it lets pass and what it does not."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).parents[1] / ".ci" / "licenses.py"))


@pytest.mark.parametrize(
    "text",
    ["MIT", "BSD License", "Apache-2.0 OR BSD-2-Clause", "LGPL-3.0-only", "MPL-2.0 AND MIT", "3-Clause BSD License"],
)
def test_licenses_that_pass(text: str) -> None:
    assert CHECK["problems"]([("some", text)]) == []


@pytest.mark.parametrize("text", ["GPL-3.0-or-later", "AGPL-3.0", "GNU General Public License v3", "", "Proprietary"])
def test_licenses_that_do_not(text: str) -> None:
    assert len(CHECK["problems"]([("some", text)])) == 1
    assert CHECK["problems"]([("krippendorff", text)]) == []
