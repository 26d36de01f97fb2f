"""From a table of timings to code objects and launches, one JSON file for all rows."""

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from chunktune_validate import vintage

SCHEMA = "chunktune/validation-launches/v1"


@dataclass
class Row:
    """A row of the table; `line` is its line in the file, the header being line 1."""

    line: int
    source: str
    arch: str
    kernel: str
    config: str
    sizes: dict
    time: float
    compiler: str
    notes: str

    def n_of(self, name):
        """A size that the row must have."""
        value = self.sizes.get(name) or ""
        if not value.strip().isdigit():
            raise ValueError(f"column {name} holds {value!r}, not a size")
        return int(value)

    b = property(lambda self: self.n_of("B"))
    m = property(lambda self: self.n_of("M"))
    n = property(lambda self: self.n_of("N"))
    k = property(lambda self: self.n_of("K"))


def read_rows(path, split):
    """The rows of a split."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    rows = []
    for line, cells in enumerate(table, start=2):
        if split in ("all", cells["split"]):
            sizes = {name: cells[name] for name in "BMNK"}
            text = {name: cells[name] for name in ("source", "arch", "kernel", "config", "compiler", "notes")}
            rows.append(Row(line=line, sizes=sizes, time=float(cells["time_us"]), **text))
    return rows


def _record(rows, tree, arch, folder):
    """Launches of rows from one tree for one target; runs in a process of its own."""
    from chunktune_validate import shapes

    shapes.install()
    from chunktune_validate import families, recorder
    from chunktune_validate.aiter_source import Aiter

    aiter = Aiter(tree)
    device = recorder.Recorder(arch, folder)
    device.install()
    for row in rows:
        result = {"line": row.line}
        try:
            families.call(row, aiter)
            launches, buffers = device.take()
            result |= {"launches": launches, "buffers": buffers}
        except Exception as error:  # Whatever a compiler or a foreign wrapper raises is the reason.
            device.take()
            text = str(error).strip().splitlines()
            result["reason"] = f"{type(error).__name__}: {text[0] if text else 'no message'}"
        yield result


def _part(args):
    rows = {row.line: row for row in read_rows(args.timings, "all")}
    for result in _record([rows[n] for n in args.lines], args.aiter, args.part, args.out):
        print(json.dumps(result), flush=True)


def _run_part(args, python, tree, arch, rows, environment):
    command = [python, "-W", "ignore", "-m", "chunktune_validate"]
    command += ["--timings", args.timings, "--out", args.out]
    command += ["--aiter", tree, "--part", arch, "--lines", *[row.line for row in rows]]
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    finished = {result["line"] for result in results}
    reason = (done.stderr.strip().splitlines() or ["the compiler ended without a message"])[-1]
    results += [{"line": r.line, "reason": reason} for r in rows if r.line not in finished]
    print(f"compiled {len(finished)} of {len(rows)} rows with {tree} for {arch}", file=sys.stderr, flush=True)
    return results


def _compile(args, attempts, tree, arch, rows, direct):
    """Compiles rows with the first compiler, and those that it fails on with the others in turn."""
    results = {}
    for version, python in attempts:
        left = [row for row in rows if "launches" not in results.get(row.line, {})]
        if not left:
            break
        environment = _environment(direct and version >= (3, 6))
        for result in _run_part(args, python, tree, arch, left, environment):
            if "launches" in result or result["line"] not in results:
                results[result["line"]] = {**result, "compiler": _name(version)}
    return list(results.values())


def _name(version):
    return "Triton " + ".".join(str(part) for part in version)


def _environment(direct):
    """For a compiler; `direct` makes it copy from memory to LDS past the registers."""
    environment = dict(os.environ)
    linkers = [shutil.which(name) for name in ("ld.lld", "ld.lld-22", "ld.lld-21", "ld.lld-20")]
    # Older releases look for ROCm's linker; LLVM's own does as well.
    if any(linkers):
        environment.setdefault("TRITON_HIP_LLD_PATH", next(filter(None, linkers)))
    if direct:
        environment.setdefault("TRITON_HIP_USE_ASYNC_COPY", "1")
    return environment


def _compilers(pythons):
    """Interpreter by the Triton release that it has; `SystemExit` names one that has none."""
    found = {}
    for python in pythons:
        probe = [python, "-W", "ignore", "-c", "import triton; print(triton.__version__)"]
        done = subprocess.run(probe, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{python} has no triton")
        found[vintage.release(done.stdout)] = python
    return found


def build(args):
    """Writes `launches.json` and the code objects to the output folder."""
    from chunktune_validate import families

    args.out.mkdir(parents=True, exist_ok=True)
    history = vintage.history(args.aiter)
    head = history.head if history else None
    compilers = _compilers(args.compilers or [sys.executable])
    parts, results = defaultdict(list), []
    for row in read_rows(args.timings, args.split):
        try:
            families.family(row)
        except families.Unsupported as why:
            results.append({"line": row.line, "reason": str(why)})
            continue
        commit = history.commit(row) if history else None
        version = vintage.compiler(row, history.date(commit) if history else None, list(compilers))
        parts[(commit, row.arch, version, vintage.direct(row))].append(row)
    with ThreadPoolExecutor(args.jobs) as pool:
        waiting = []
        for (commit, arch, version, direct), rows in parts.items():
            tree = history.tree(commit, args.out / "aiter") if commit else args.aiter
            order = sorted(compilers, key=lambda other: (abs(other[1] - version[1]), other))
            attempts = [(other, compilers[other]) for other in order]
            waiting.append((commit, pool.submit(_compile, args, attempts, tree, arch, rows, direct)))
        for commit, done in waiting:
            results += [{**result, "aiter": commit} for result in done.result()]
    document = {
        "schema": SCHEMA,
        "compiler": ", ".join(_name(version) for version in sorted(compilers)),
        "aiter": head,
        "timings_sha256": hashlib.sha256(args.timings.read_bytes()).hexdigest(),
        "rows": sorted(results, key=lambda result: result["line"]),
    }
    (args.out / "launches.json").write_text(json.dumps(document) + "\n")


def main():
    """The command line."""
    parser = argparse.ArgumentParser(prog="chunktune_validate", description=__doc__)
    parser.add_argument("--timings", type=Path, required=True, help="CSV of published timings")
    parser.add_argument("--aiter", type=Path, required=True, help="AITER checkout")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--split", default="report", choices=["report", "calibrate", "all"])
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    parser.add_argument("--compilers", nargs="*", help="Python interpreters with releases of triton")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=int, nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        _part(args)
    else:
        build(args)
    return 0
