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

from chunktune_validate.aiter_source import ELSEWHERE

# Figures of commit messages that name no pull request.
_COMMITS = {"fused_dynamic_mxfp4_quant_moe_sort": "31586c5f4c"}
# First day on which each release is taken to have been in use on the machines that times were measured
# on. AITER's tables of April 2026 were tuned before its machines moved to the triton of its retuning
# (PR 2434), those of June after it; 3.7 is taken from after AITER still adapted its wrappers to 3.6
# (PR 4406, end of July 2026). 3.5 is not seen there.
_IN_USE = {
    (3, 3): "2025-05-29",
    (3, 4): "2025-07-30",
    (3, 6): "2026-06-01",
    (3, 7): "2026-09-01",
    (3, 8): "2026-10-27",
}
# The two compilers that PRs 3283, 3333 and 3378 compare in May 2026: the older release in use, and the
# development tree on its way to the release after next.
_NAMED = {"golden": (3, 4), "TOT": (3, 7)}
# AITER's machines run builds of Triton's development tree, which since January 2026 copies from memory to
# LDS past the registers by default on gfx950 (Triton PR 9087; "Triton 3.6 async copy" in AITER's PR 2434).
# The release that this tree became stands for them; the wheels on PyPI have to be told to copy so.
DIRECT = (3, 7)
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
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
        """The commits after and before a pull request. One that was not merged has its own reference
        where the copy of the repository brought it along."""
        merged = self._git("log", "-1", "--format=%H", "--fixed-strings", f"--grep=(#{number})")
        if merged:
            return merged, self._git("rev-parse", f"{merged}^")
        own = self._git("rev-parse", "--verify", "--quiet", f"refs/pull/{number}/head")
        return own, own and self._git("merge-base", "HEAD", own)

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
            sizes = [str(v) for v in (row.m, row.n, row.k)]
            same = any(cells[at : at + 3] == sizes for at in range(len(cells)))
            if same and any(_equal(cell, row.time) for cell in cells):
                return commit
        return None

    @functools.cache
    def _messages(self):
        """Commits of all branches whose messages print times by shape, oldest first: hash and lines."""
        shape = r"M, *N, *K|N= *[0-9]+ +K= *[0-9]+"
        text = self._git("log", "--all", "--date-order", "--reverse", "-E", f"--grep={shape}", "--format=%x01%H%n%B")
        return [(lines[0], lines[1:]) for entry in (text or "").split("\x01") if (lines := entry.splitlines())]

    def _of_message(self, row):
        """The first commit whose message prints the row's time, in us or ns, behind its shape: a pull
        request that was merged as one commit ends with other configurations than those it prints."""
        shape = [row.m, row.n, row.k]
        for commit, lines in self._messages():
            for line in lines:
                found = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?", line)]
                times = [time for time in found[3:] if time in (row.time, round(row.time * 1000))]
                if found[:3] == shape and times:
                    return commit
        return None

    def commit(self, row):
        """The commit for a row: the best known, else the newest."""
        table = re.search(r"aiter@\w+:(\S+\.csv)", row.source)
        if table:
            return self._of_table(row, table[1]) or self.head
        number = re.search(r"aiter/pull/(\d+)|PR (\d+) family", row.source)
        after = before = None
        if number:
            after, before = self._of_pull_request(next(n for n in number.groups() if n))
        for name, known in _COMMITS.items():
            if name in row.kernel:
                after, before = self._git("rev-parse", known), self._git("rev-parse", f"{known}^")
        if row.config.lower().startswith(_BEFORE) or row.compiler == "Triton 3.4":
            return before or self.head
        printed = self._of_message(row) if number and number[2] else None
        return printed or after or self.head

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
                paths = ["aiter/ops/triton", *[ELSEWHERE] * bool(self._git("ls-tree", commit, ELSEWHERE))]
                command = ["git", "-C", str(self.path), "archive", commit, *paths]
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


def direct(row):
    """Whether a row for gfx950 was compiled by a build of the development tree, if not by an old one."""
    return row.arch == "gfx950" and "aiter" in row.source.lower()


def compiler(row, date, available):
    """The one of the available releases that is nearest to the one a row was compiled with: the one
    that it names, or the one in use in the month that it names or on the day of its commit."""
    named = re.search(r"Triton (\d+\.\d+)", row.compiler)
    month = re.search(rf"({'|'.join(_MONTHS)}) (\d{{4}})", row.compiler)
    if month:
        date = f"{month[2]}-{_MONTHS.index(month[1]) + 1:02}-28"
    past = [version for version, day in _IN_USE.items() if not date or day <= date]
    in_use = max(past, default=min(_IN_USE))
    by_word = [version for word, version in _NAMED.items() if word in row.compiler]
    wanted = release(named[1]) if named else next(iter(by_word), in_use)
    if direct(row) and wanted == (3, 6):
        wanted = DIRECT
    return min(available, key=lambda v: (abs(v[0] - wanted[0]), abs(v[1] - wanted[1]), v))
