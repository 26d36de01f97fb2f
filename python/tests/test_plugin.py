"""The plugin in the real scheduler of three SGLang wheels, without a GPU and without torch.

`tests.wheel` says what of SGLang is real here and what is stood in for. Each scenario runs in a
process of its own, because a process can import only one version.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from . import wheel

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT.parent / "tests/golden/sizer.json"
VERSIONS = ("0.5.23", "0.5.16", "0.5.10")
"""The newest, the last shape of the sizer before, and one from before the plugin framework."""

_scratch = tempfile.TemporaryDirectory()
SCRATCH = Path(_scratch.name)
_servers: dict[str, subprocess.Popen[str]] = {}
"""One process a version that has imported it; each scenario runs in a fork of it."""


def setUpModule() -> None:
    """Unpacks the wheels and installs the package, so that its entry point can be found."""
    missing = [version for version in VERSIONS if wheel.find(version) is None]
    if missing:
        why = f"no wheel of sglang {', '.join(missing)} in the folder that {wheel.WHEELS} names"
        if os.environ.get("CHUNKTUNE_REQUIRE_TOOLS") == "1":
            raise AssertionError(f"CHUNKTUNE_REQUIRE_TOOLS=1, but {why}")
        raise unittest.SkipTest(why)
    for version in VERSIONS:
        wheel.unpack(wheel.find(version), SCRATCH / version)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    # From a copy, because setuptools builds inside the source folder.
    shutil.copytree(ROOT, SCRATCH / "source")
    subprocess.run(
        [*pip, "--no-deps", "--target", SCRATCH / "site", SCRATCH / "source"], check=True
    )
    subprocess.run(
        [sys.executable, "-m", "chunktune_sglang.sitecustomize", SCRATCH / "custom"],
        check=True,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )


def tearDownModule() -> None:
    for server in _servers.values():
        server.communicate()
    _scratch.cleanup()


def config(**changes: Any) -> Path:
    """The golden sizer, validated, with some fields changed."""
    raw = json.loads(GOLDEN.read_text()) | {"status": "validated"} | changes
    text = json.dumps(raw)
    path = SCRATCH / f"sizer-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    path.write_text(text)
    return path


def environment(version: str, sizer: Path | None, **extra: str) -> dict[str, str]:
    """Environment of a server process: versions without plugins get the sitecustomize."""
    folders = [SCRATCH / "site", ROOT]
    if version == "0.5.10":
        folders.insert(0, SCRATCH / "custom")
    found = {k: v for k, v in os.environ.items() if not k.startswith(("CHUNKTUNE_", "SGLANG_"))}
    found |= {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONWARNINGS": "ignore"} | extra
    return found | ({} if sizer is None else {"CHUNKTUNE_SIZER": str(sizer)})


def start(version: str, scenario: str, argument: Any, env: dict[str, str], **kwargs: Any) -> Any:
    command = [sys.executable, "-m", "tests.inside", str(SCRATCH / version), scenario]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, json.dumps(argument)],
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=ROOT,
        env=env,
        **kwargs,
    )


def run(
    version: str, scenario: str, argument: Any = None, sizer: Path | None = None, **extra: str
) -> tuple[Any, str]:
    """Result and log of a scenario; the result is None where it failed."""
    if version not in _servers:
        folder = str(SCRATCH / version)
        _servers[version] = subprocess.Popen(
            [sys.executable, "-m", "tests.inside", folder, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=environment(version, None),
        )
    server = _servers[version]
    env = extra | ({} if sizer is None else {"CHUNKTUNE_SIZER": str(sizer)})
    job = json.dumps({"scenario": scenario, "argument": argument, "env": env})
    print(job, file=server.stdin, flush=True)
    done = json.loads(server.stdout.readline())
    return done["result"], done["log"]


class EveryVersion(unittest.TestCase):
    """What must hold on the newest version and on the two older ones."""

    def test_every_hook_takes(self) -> None:
        for version in VERSIONS:
            process = start(version, "hooks", None, environment(version, config()))
            out, log = process.communicate()
            found = json.loads(out)
            self.assertEqual(found["took"], found["all"], log)
            self.assertEqual(found["missing"], [], log)
            if version != "0.5.10":
                self.assertIn("Executed general plugin: chunktune", log)

    def test_a_long_prompt_runs_in_the_chunks_of_the_table(self) -> None:
        # 98304 = 48 * 2048 is the first end of a chunk past the row at 97657: 1792 from there.
        for version in VERSIONS:
            for tail, end in ((0, [[1792], [320]]), (0.25, [[1280], [832]])):
                # 320 < 0.25 * 1792: the last 2112 are 5 pages of 256 and the rest.
                sizer = config(tail_fraction=tail)
                found, log = run(version, "passes", [[104_000, 0, 0]], sizer)
                self.assertEqual(found["rows"], [[2048]] * 48 + [[1792]] * 2 + end, log)

    def test_a_prompt_does_not_end_in_a_tiny_chunk(self) -> None:
        frontier = [[0, 2048], [100_000, 1024]]
        low = config(table=[[0, 1024]], frontier=frontier)
        cases = [
            # 2100 = 2048 + 52: 1280 and 820. 512 are a quarter of 2048, so they stay.
            (config(), [[2100, 0, 0]], [[1280], [820]]),
            (config(), [[2560, 0, 0]], [[2048], [512]]),
            # Behind a cached prefix, on the host or not: 512 and 100 are less than 2 pages each.
            (config(), [[300_008 - 388, 299_008, 0]], [[512], [100]]),
            (config(), [[98_304 + 1900, 256, 98_048]], [[1024], [876]]),
            # The second request fills up the pass of the last 52.
            (config(), [[2100, 0, 0], [300, 0, 0]], [[2048], [52, 300]]),
            # The frontier holds 1100 rows in one chunk, but not after 100000 tokens: 768 and 332.
            (low, [[1100, 0, 0]], [[1100]]),
            (low, [[2124, 0, 0]], [[1024], [1100]]),
            (low, [[101_196, 100_096, 0]], [[768], [332]]),
        ]
        for version in VERSIONS:
            for sizer, queue, rows in cases:
                found, log = run(version, "passes", queue, sizer)
                self.assertEqual(found["rows"], rows, log)
            found, log = run(version, "passes", [], config())
            self.assertIn("last chunks: merged or balanced below 25% of the one before", log)

    def test_decode_rows_of_a_mixed_pass_are_kept_free_in_both_last_chunks(self) -> None:
        # 2048 less 200 decode rows are 1848: of 1900 they leave 52. 1024 and 876 are left room.
        for version in VERSIONS:
            found, log = run(version, "mixed_end", 200, config())
            self.assertEqual(found, [[1024], [876]], log)

    def test_without_its_hook_the_ends_of_prompts_stay_and_the_log_says_so(self) -> None:
        for version in VERSIONS:
            found, log = run(version, "without_tail_hook", [[2100, 0, 0]], config())
            self.assertEqual(found["rows"], [[2048], [52]], log)
            self.assertIn("last chunks: left as they are", log)

    def test_one_line_says_what_is_in_force(self) -> None:
        for version in VERSIONS:
            sizer = config()
            _, log = run(version, "passes", [], sizer)
            lines = [line for line in log.splitlines() if "chunktune: config" in line]
            self.assertEqual(len(lines), 1, log)
            sha = hashlib.sha256(sizer.read_bytes()).hexdigest()
            for part in (
                sha[:12],
                "gfx950",
                "2048 at prefix 0",
                "256 at 781250",
                "first chunk 2048",
            ):
                self.assertIn(part, lines[0])

    def test_a_request_on_a_long_cached_prefix_is_clamped(self) -> None:
        # At 299008 tokens the table says 512; 1000 - 512 = 488 of them remain for the next pass.
        for version in VERSIONS:
            found, log = run(version, "passes", [[300_008, 299_008, 0]], config())
            self.assertEqual(found["rows"], [[512], [488]], log)

    def test_the_rows_already_admitted_count_against_the_clamp(self) -> None:
        # The first request puts 200 rows into the pass. 512 - 200 = 312 are left at prefix
        # 299008, cut to the page of 256; the cut request ends the pass.
        for version in VERSIONS:
            queue = [[200, 0, 0], [300_008, 299_008, 0], [100, 0, 0]]
            found, log = run(version, "passes", queue, config())
            self.assertEqual(found["rows"][0], [200, 256], log)
            self.assertEqual(sum(map(sum, found["rows"])), 200 + 1000 + 100)

    def test_an_admitted_long_prefix_bounds_the_rest_of_the_pass(self) -> None:
        # 100 rows at 299008 fit whole; the pass then holds 512 rows in all, charged by the page:
        # 512 - 256 = 256 for the next prompt of 1000.
        for version in VERSIONS:
            found, log = run(version, "passes", [[299_108, 299_008, 0], [1000, 0, 0]], config())
            self.assertEqual(found["rows"][0], [100, 256], log)

    def test_a_host_hit_counts_as_prefix(self) -> None:
        for version in VERSIONS:
            found, log = run(version, "passes", [[300_008, 256, 298_752]], config())
            self.assertEqual(found["rows"][0], [512], log)

    def test_decode_rows_of_a_mixed_pass_count_and_leave_a_page(self) -> None:
        # The table says 256 at 599040. 100 decode rows leave 156, less than a page: one page runs.
        for version in VERSIONS:
            found, log = run(version, "mixed", 100, config())
            self.assertEqual(found, [[256]] * 3, log)

    def test_answers_stay_under_every_cap_and_on_the_page(self) -> None:
        prefixes = [0, 97_656, 97_657, 200_000, 781_250, 781_251, 5_000_000]
        for version in VERSIONS:
            given = {"chunk": 2048, "max_prefill": 16384, "prefixes": prefixes}
            found, log = run(version, "predictions", given, config())
            self.assertEqual(found, [2048, 2048, 1792, 768, 256, 256, 256], log)
            self.assertEqual(log.count("is past max_context 781250"), 1, log)
            found, _ = run(version, "predictions", given | {"max_prefill": 1900}, config())
            self.assertEqual(found, [1792, 1792, 1792, 768, 256, 256, 256])
            found, _ = run(version, "predictions", given | {"chunk": 700}, config())
            self.assertEqual(found, [512, 512, 512, 512, 256, 256, 256])

    def test_what_cannot_be_used_leaves_sglang_untouched(self) -> None:
        text = SCRATCH / "not-json.json"
        text.write_text("{")
        cases = {
            "status is unvalidated": config(status="unvalidated"),
            "made for gfx942, this device is gfx950": config(arch="gfx942"),
            "made for page_size 64": config(page_size=64, align=64),
            "schema is 'chunktune/sizer/v2'": config(schema="chunktune/sizer/v2"),
            "table[1]": config(table=[[0, 2048], [0, 1024]]),
            "score_budgets names _NO_SUCH_BYTES": config(score_budgets={"_NO_SUCH_BYTES": 1}),
            "cannot be read": SCRATCH / "nowhere.json",
            "not JSON": text,
        }
        for version in VERSIONS:
            for message, sizer in cases.items():
                found, log = run(version, "state", sizer=sizer)
                untouched = {"installed": False, "sizer": False, "sha256": None}
                # 992 rows in one pass: the server's chunk of 2048, no clamp at prefix 299008.
                self.assertEqual(found, untouched | {"rows": [992]}, log)
                self.assertIn(message, log)
                self.assertIn("SGLang runs as it would without chunktune", log)

    def test_a_server_without_chunking_or_with_another_page_is_refused(self) -> None:
        for version in VERSIONS:
            for scenario, message in (
                ("chunking_off", "chunked prefill is off"),
                ("other_page", "the server runs --page-size 64"),
            ):
                found, log = run(version, scenario, sizer=config())
                self.assertEqual(found, {"sizer": False}, log)
                self.assertIn(message, log)

    def test_unvalidated_is_taken_when_asked_for(self) -> None:
        for version in VERSIONS:
            sizer = config(status="unvalidated")
            found, log = run(version, "state", sizer=sizer, CHUNKTUNE_ALLOW_UNVALIDATED="1")
            self.assertTrue(found["sizer"], log)

    def test_strict_refuses_to_start(self) -> None:
        for version in VERSIONS:
            sizer = config(status="unvalidated")
            found, log = run(version, "state", sizer=sizer, CHUNKTUNE_STRICT="1")
            self.assertIsNone(found)
            self.assertIn("(CHUNKTUNE_STRICT=1)", log)

    def test_without_a_config_nothing_is_said_or_done(self) -> None:
        for version in VERSIONS:
            found, log = run(version, "state")
            self.assertFalse(found["sizer"])
            self.assertNotIn("ERROR", log)

    def test_chunks_follow_the_truncation_alignment(self) -> None:
        # 1792 at prefix 100000 is cut to 1024; a chunk_min of 256 comes to nothing under 1024.
        for version in VERSIONS:
            sizer = config(chunk_min=512, table=[[0, 1792]], frontier=[])
            found, log = run(version, "truncation", 512, sizer)
            self.assertEqual(found, [1536, 1536], log)
            found, log = run(version, "truncation", 1024, config())
            self.assertIsNone(found)
            self.assertIn("config withdrawn", log)


class TwoRanks(unittest.TestCase):
    """Two processes that talk through SGLang's own `broadcast_pyobj`."""

    def states(self, sizers: list[Path | None], **kwargs: Any) -> list[tuple[Any, str]]:
        """Result and log of both ranks."""
        back, forth = os.pipe(), os.pipe()
        ends = [(back[0], forth[1]), (forth[0], back[1])]
        processes = []
        for rank, (read, write) in enumerate(ends):
            env = environment(kwargs["version"], sizers[rank])
            env["TEST_ARCH"] = kwargs.get("archs", ("gfx950", "gfx950"))[rank]
            argument = {"rank": rank, "read": read, "write": write}
            processes.append(
                start(kwargs["version"], "rank", argument, env, pass_fds=(read, write))
            )
        for descriptor in (*back, *forth):
            os.close(descriptor)
        found = [process.communicate() for process in processes]
        return [(json.loads(out.splitlines()[-1]) if out else None, log) for out, log in found]

    def test_differing_files_end_in_the_same_state(self) -> None:
        sizers = [config(), config(chunk_max=4096)]
        sha = hashlib.sha256(sizers[0].read_bytes()).hexdigest()
        for version in VERSIONS:
            with self.subTest(version):
                (zero, log0), (one, log1) = self.states(sizers, version=version)
                self.assertEqual((zero, one), ({"sha256": sha}, {"sha256": sha}), log0 + log1)
                self.assertIn("rank 1 was given another", log1)
                for log in (log0, log1):
                    self.assertIn(sha[:12], log)

    def test_a_rank_without_a_file_takes_the_one_of_rank_0(self) -> None:
        (zero, log0), (one, log1) = self.states([config(), None], version="0.5.23")
        self.assertEqual(zero, one, log0 + log1)
        self.assertIsNotNone(zero["sha256"])

    def test_without_a_file_on_rank_0_no_rank_installs(self) -> None:
        (zero, _), (one, log1) = self.states([None, config()], version="0.5.23")
        self.assertEqual((zero, one), ({"sha256": None}, {"sha256": None}))
        self.assertIn("rank 0 was given no config", log1)

    def test_a_bad_file_on_rank_0_is_used_by_none(self) -> None:
        (zero, log0), (one, log1) = self.states(
            [config(status="unvalidated"), config()], version="0.5.23"
        )
        self.assertEqual((zero, one), ({"sha256": None}, {"sha256": None}))
        self.assertIn("status is unvalidated", log0)
        self.assertIn("status is unvalidated", log1)

    def test_one_rank_on_another_device_keeps_all_from_installing(self) -> None:
        (zero, log0), (one, log1) = self.states(
            [config(), config()], version="0.5.16", archs=("gfx950", "gfx942")
        )
        self.assertEqual((zero, one), ({"sha256": None}, {"sha256": None}))
        for log in (log0, log1):
            self.assertIn("rank 1: made for gfx950, this device is gfx942", log)


class NewestVersion(unittest.TestCase):
    """What only the newest version has."""

    def test_the_smaller_of_two_sizers_wins(self) -> None:
        prefixes = [0, 50_000, 97_657, 130_209, 390_626]
        found, log = run("0.5.23", "own_sizer", prefixes, config())
        self.assertEqual(found["both"], list(map(min, found["own"], found["table"])), log)
        self.assertNotEqual(found["own"], found["table"])

    def test_exact_fill_is_forced_where_upstream_gates_it_out(self) -> None:
        fill = json.loads(GOLDEN.read_text())["exact_fill"]
        # Off: 900 is charged as 1024, so two fit and nothing is left. Forced: 2048 rows exactly.
        for force, gate, rows in ((False, False, [900, 900]), (True, True, [900, 900, 248])):
            with self.subTest(force=force):
                found, log = run(
                    "0.5.23", "exact_fill", sizer=config(exact_fill=fill | {"force": force})
                )
                self.assertEqual(found, {"gate": gate, "rows": rows}, log)

    def test_a_user_who_switched_exact_fill_off_is_obeyed(self) -> None:
        fill = json.loads(GOLDEN.read_text())["exact_fill"] | {"force": True}
        found, log = run(
            "0.5.23", "exact_fill", sizer=config(exact_fill=fill), SGLANG_EXACT_CHUNK_FILL="0"
        )
        self.assertFalse(found["gate"], log)

    def test_only_the_named_score_budget_is_set_and_it_is_read_back(self) -> None:
        name = "_CANDIDATE_SCORE_BUDGET_BYTES"
        found, log = run("0.5.23", "budgets", sizer=config(score_budgets={name: 1 << 28}))
        self.assertEqual(found["constants"].pop(name), 1 << 28, log)
        self.assertEqual(set(found["constants"].values()), {1 << 30})
        self.assertIn(f"{name} 268435456 bytes in force", found["said"][0])
        self.assertIn(found["said"][0], log)

    def test_a_budget_that_is_read_at_import_is_compared(self) -> None:
        name = "SGLANG_DSV4_FP4_LOGITS_BUDGET_MB"
        sizer = config(score_budgets={name: 1 << 30})
        _, log = run("0.5.23", "budgets", sizer=sizer, **{name: "2048"})
        self.assertIn(f"start the server with {name}=1024", log)
        found, log = run("0.5.23", "budgets", sizer=sizer, **{name: "1024"})
        self.assertNotIn("ERROR", log)
        self.assertIn("1073741824 bytes in force", found["said"][0])


if __name__ == "__main__":
    unittest.main()
