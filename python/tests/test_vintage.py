"""Which commit of AITER and which compiler a published time belongs to."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from chunktune_validate import vintage
from chunktune_validate.build import Row

TABLE = "aiter/configs/tuned.csv"
AVAILABLE = [(3, 4), (3, 6), (3, 7), (3, 9)]


def row(**given: Any) -> Row:
    """A row of 256 by 8192 by 4096 with what the test gives."""
    sizes = {"M": "256", "N": "8192", "K": "4096"}
    fields = {"line": 2, "source": "", "arch": "gfx950", "kernel": "aiter Triton gemm_a16w16", "config": ""}
    return Row(**(fields | {"sizes": sizes, "time": 35.49, "compiler": "Triton", "notes": ""} | given))


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Commits(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str) -> str:
        person = {"NAME": "A", "EMAIL": "a@example.org"}
        environment = {f"GIT_{who}_{key}": text for who in ("AUTHOR", "COMMITTER") for key, text in person.items()}
        command = ["git", "-C", str(self.folder), *args]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | environment)
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        for text in files.values():
            place = self.folder / TABLE
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def test_a_row_with_as_many_rows_as_the_device_has_units_is_found_in_its_table(self) -> None:
        # The column of compute units comes before that of M, and holds 256 as well.
        tuned = self.commit("tune", table="gfx,cu_num,M,N,K,us\ngfx950,256,256,8192,4096,35.49\n")
        self.commit("something else")
        found = vintage.History(self.folder).commit(row(source=f"ROCm/aiter@abc:{TABLE}"))
        self.assertEqual(found, tuned)

    def test_a_time_belongs_to_the_commit_that_printed_it_first(self) -> None:
        before = self.commit("start")
        self.git("checkout", "-q", "-b", "work")
        printed = self.commit("retune\n\n  M=256 N=8192 K=4096: 41.2us -> 35.49us (-14%)")
        self.commit("tune again\n\n  ( 256,  8192,  4096)   35,490   33,210")
        self.git("checkout", "-q", "main")
        merged = self.commit("All of it (#2434)\n\n  M=256 N=8192 K=4096: 41.2us -> 35.49us (-14%)")
        history = vintage.History(self.folder)
        source = "ROCm/aiter commit log (Triton 3.6 retune, PR 2434 family)"
        self.assertEqual(history.commit(row(source=source)), printed)
        # One that no message prints belongs to the merged commit, the older compiler's to the one before.
        self.assertEqual(history.commit(row(source=source, time=9.9)), merged)
        self.assertEqual(history.commit(row(source=source, compiler="Triton 3.4")), before)


class Compilers(unittest.TestCase):
    def test_a_row_takes_the_compiler_that_it_names_or_that_was_in_use(self) -> None:
        aiter = "ROCm/aiter@abc:table.csv"
        cases = [
            ({"compiler": "Triton 3.4", "source": aiter}, "2026-04-06", (3, 4)),
            # AITER's 3.6 is a build of the development tree, SGLang's 3.7 the release.
            ({"compiler": "Triton 3.6", "source": aiter}, "2026-04-06", (3, 7)),
            ({"compiler": "Triton 3.7", "source": "sgl-project/sglang"}, None, (3, 7)),
            ({"compiler": "Triton golden (older release)", "source": aiter}, "2026-08-22", (3, 4)),
            ({"compiler": "Triton Oct 2025", "source": aiter}, "2026-08-22", (3, 4)),
            ({"compiler": "Triton (2026)", "source": aiter}, "2026-04-17", (3, 4)),
            ({"compiler": "Triton (2026)", "source": aiter}, "2026-06-05", (3, 7)),
            ({"compiler": "Triton (Jul 2026)", "source": aiter, "arch": "gfx942"}, "2026-07-21", (3, 6)),
        ]
        for given, date, expected in cases:
            with self.subTest(given):
                self.assertEqual(vintage.compiler(row(**given), date, AVAILABLE), expected)


if __name__ == "__main__":
    unittest.main()
