"""What the published suites need no understanding for: majority, length, and bags of words (docs/baselines.md).

python experiments/run.py baselines/suites
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from _command import anaphora
from _suites import SUITES, missing_data, suite_file

HERE = Path(__file__).resolve().parent


def main() -> int:
    if missing := missing_data():
        print(f"skipped: no {missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files = {name: suite_file(name, Path(folder)) for name in SUITES}
        found = {name: anaphora("suites", "baselines", path, "--json") for name, path in files.items()}
    (HERE / "suites.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
