"""``python -m tests.predict SIZER``: the plugin's answers for the prefixes on standard input.

Prints one answer a line, and the nanoseconds of one call to standard error.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from chunktune_sglang.config import parse
from chunktune_sglang.sizer import Sizer


def main() -> None:
    path = Path(sys.argv[1])
    config = parse(path.read_text(), str(path))
    predict = Sizer(config, cap=config.chunk_max).predict
    prefixes = [int(line) for line in sys.stdin]
    elapsed = []
    for _ in range(5):
        started = time.perf_counter_ns()
        answers = [predict(prefix) for prefix in prefixes]
        elapsed.append(time.perf_counter_ns() - started)
    print(*answers, sep="\n")
    print(f"{min(elapsed) / len(prefixes):.0f} ns a call, best of 5", file=sys.stderr)


if __name__ == "__main__":
    main()
