"""Which state of AITER, and which compiler, a published time was measured with.

A tuned configuration changes faster than its table of times: a row of a model's table belongs to the
commit that wrote the line, one of a pull request to that commit or, for the figures "before", to the
one before it. Without git history the given tree serves for every row.
"""

import csv
import functools
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

# Figures of commit messages that name no pull request.
_COMMITS = {"fused_dynamic_mxfp4_quant_moe_sort": "31586c5f4c"}
# First day on which each release is taken to have been in use on the machines that times were measured
# on: those of its publication (PyPI), but 3.6 from AITER's retuning for it (PR 2434), and 3.7 from after
# AITER still adapted its wrappers to 3.6 (PR 4406, end of July 2026). 3.5 is not seen there.
_IN_USE = {
    (3, 3): "2025-05-29",
    (3, 4): "2025-07-30",
    (3, 6): "2026-04-06",
    (3, 7): "2026-09-01",
    (3, 8): "2026-10-27",
}
_BEFORE = ("before", "old", "golden", "default")


class History:
    """The git history of an AITER checkout, or of a bare repository."""

    def __init__(self, path):
        self.path = path
        self.head = self._git("rev-parse", "HEAD")

    def _git(self, *args):
        done = subprocess.run(["git", "-C", str(self.path), *args], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    @functools.cache
    def _of_pull_request(self, number):
        found = self._git("log", "-1", "--format=%H", "--fixed-strings", f"--grep=(#{number})")
        return found or None

    @functools.cache
    def _lines(self, table):
        """Commit of each line of a table, by line content."""
        text = self._git("blame", "--line-porcelain", "HEAD", "--", table)
        commits, commit = {}, None
        for line in (text or "").splitlines():
            if re.match(r"^[0-9a-f]{40} ", line):
                commit = line[:40]
            elif line.startswith("\t"):
                commits[line[1:]] = commit
        return commits

    def _of_table(self, row, table):
        for line, commit in self._lines(table).items():
            cells = next(csv.reader([line]))
            same = [str(v) for v in (row.m, row.n, row.k)]
            at = cells.index(same[0]) if same[0] in cells else -1
            if cells[at : at + 3] == same and any(_equal(cell, row.time) for cell in cells):
                return commit
        return None

    def commit(self, row):
        """The commit for a row: the best known, else the newest."""
        table = re.search(r"aiter@\w+:(\S+\.csv)", row.source)
        if table:
            return self._of_table(row, table[1]) or self.head
        number = re.search(r"aiter/pull/(\d+)|PR (\d+) family", row.source)
        commit = None
        if number:
            commit = self._of_pull_request(next(n for n in number.groups() if n))
        for name, known in _COMMITS.items():
            if name in row.kernel:
                commit = self._git("rev-parse", known)
        if commit and row.config.lower().startswith(_BEFORE) or "Triton 3.4" == row.compiler and commit:
            commit = self._git("rev-parse", f"{commit}^")
        return commit or self.head

    @functools.cache
    def date(self, commit):
        """Day of a commit."""
        return self._git("log", "-1", "--format=%cs", commit)

    def tree(self, commit, folder):
        """The Triton part of AITER at a commit, unpacked below `folder`."""
        place = folder / commit[:12]
        if not (place / "done").exists():
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile() as packed:
                command = ["git", "-C", str(self.path), "archive", commit, "aiter/ops/triton"]
                subprocess.run(command, stdout=packed, check=True)
                packed.seek(0)
                with tarfile.open(fileobj=packed) as archive:
                    archive.extractall(place, filter="data")
            (place / "done").touch()
        return place


def _equal(cell, time):
    try:
        return float(cell) == time
    except ValueError:
        return False


def history(path):
    """The history of a tree, or `None` where it has none."""
    path = Path(path)
    found = History(path)
    return found if found.head else None


def release(text):
    """A version as a pair, such as (3, 6)."""
    return tuple(int(n) for n in re.findall(r"\d+", text)[:2])


def compiler(row, date, available):
    """The one of the available releases that is nearest to the one a row was compiled with: the one
    that it names, the development tree of its day, or the newest of its day."""
    named = re.search(r"Triton (\d+\.\d+)", row.compiler)
    if named:
        wanted = release(named[1])
    else:
        past = [version for version, day in _IN_USE.items() if not date or day <= date]
        wanted = max(past, default=min(_IN_USE))
        if "TOT" in row.compiler:
            wanted = min((v for v in _IN_USE if v > wanted), default=wanted)
    return min(available, key=lambda v: (abs(v[0] - wanted[0]), abs(v[1] - wanted[1]), v))
