"""The peak memory of a process, for programs that tests run in processes of their own."""

from __future__ import annotations

import re
from pathlib import Path

# The end of a program: prints its peak in MB. Linux's VmHWM begins at zero with the program, while ru_maxrss begins
# with that of the process which started it.
PRINT_PEAK = """
import re
print(int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) >> 10)
"""


def peak() -> float:
    """The peak memory of this process in MB, on Linux."""
    match = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) / 1024
