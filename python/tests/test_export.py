"""Which tile the exporter takes at which M, against SGLang's own function and AITER's own files."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Any

from chunktune_sglang.export_kernels import configs
from chunktune_sglang.export_kernels.problem import ExportError

from . import wheel

ROCM = "sglang/srt/models/deepseek_common/attention_forward_methods/forward_mla_rocm.py"


def upstream(units: int) -> Any:
    """SGLang's `_absorb_bmm_config`, as it is in the wheel, on a device of `units`."""
    path = wheel.find("0.5.23")
    if path is None:
        raise unittest.SkipTest(f"no wheel of sglang 0.5.23 in {wheel.WHEELS}")
    with zipfile.ZipFile(path) as archive:
        tree = ast.parse(archive.read(ROCM))
    wanted = ("_absorb_bmm_config", "_ABSORB_BMM_DECODE_MAX_M", "_absorb_bmm_num_cu")
    found = []
    for node in tree.body:
        names = [getattr(target, "id", None) for target in getattr(node, "targets", [])]
        if getattr(node, "name", None) in wanted or set(names) & set(wanted):
            found.append(node)
    names = {
        "get_device_core_count": lambda: units,
        "cdiv": lambda a, b: -(-a // b),
        "Optional": dict,
    }
    exec(compile(ast.Module(found, []), ROCM, "exec"), names)  # noqa: S102
    return names["_absorb_bmm_config"]


class Flags(unittest.TestCase):
    def run_with(self, *flags: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "chunktune_sglang.export_kernels", "--arch", "gfx950"]
        with tempfile.TemporaryDirectory() as folder:
            own = str(Path(__file__).parent / "own")
            given = ["--out", str(Path(folder, "out")), "--aiter", own, *flags]
            done = subprocess.run([*command, *given], capture_output=True, text=True, check=False)
            self.assertFalse(Path(folder, "out").exists())
        return done.returncode, done.stderr

    def test_shapes_and_rows_that_no_rank_has_are_refused(self) -> None:
        for flags, words in (
            (("--shape", "w:16:99999999999:192"), "no shape of a rank"),
            (("--shape", "w:16:1048576:1048576"), "no shape of a rank"),
            (("--rows-from", "0"), "no number of rows"),
            (("--rows-from", "-4"), "no number of rows"),
        ):
            status, said = self.run_with(*flags)
            self.assertEqual(status, 2, said)
            self.assertIn(words, said)

    @unittest.skipUnless(importlib.util.find_spec("triton"), "no triton")
    def test_a_folder_of_tiles_that_is_not_there_is_named(self) -> None:
        status, said = self.run_with("--configs", "/no/such/folder")
        self.assertEqual(status, 1, said)
        self.assertIn("/no/such/folder: no such folder", said)


class Choice(unittest.TestCase):
    def test_few_rows_take_the_tile_that_sglang_takes(self) -> None:
        for arch, units in configs.COMPUTE_UNITS.items():
            theirs = upstream(units)
            for heads, n in ((16, 512), (16, 256), (8, 512), (64, 128), (128, 512)):
                above = [configs.Bucket(1, configs.ROWS, {"BLOCK_SIZE_M": 1})]
                buckets = configs.with_sglang(above, arch, heads, n)
                for m in range(1, 258):
                    ours = next(b.settings for b in buckets if b.first <= m <= b.last)
                    expected = theirs(heads, m, n) or {"BLOCK_SIZE_M": 1}
                    self.assertEqual(ours, expected, (arch, heads, n, m))

    def table(self, entries: dict[str, Any], name: str = "gfx950-GEMM-X.json") -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "gemm", name)
            path.parent.mkdir()
            path.write_text(json.dumps(entries))
            return configs.of_aiter([Path(folder)], "gfx950", "GEMM-X", 1, 512, 192)

    def test_the_smallest_bound_that_covers_m_wins_then_the_largest_that_it_reaches(self) -> None:
        tile = lambda m: {"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": 64}
        buckets, _ = self.table(
            {"M_LEQ_64": tile(64), "M_LEQ_16": tile(16), "M_GEQ_4096": tile(256), "any": tile(32)}
        )
        rows = [(b.first, b.last, b.settings["BLOCK_SIZE_M"]) for b in buckets]
        expected = [(1, 16, 16), (17, 64, 64), (65, 4095, 32), (4096, configs.ROWS, 256)]
        self.assertEqual(rows, expected)

    def test_the_names_of_older_releases_are_read(self) -> None:
        names = ("small", "medium_M32", "medium_M64", "medium_M128", "large", "xlarge")
        tiles = {
            name: {"BLOCK_SIZE_M": 16 << i, "BLOCK_SIZE_N": 64} for i, name in enumerate(names)
        }
        buckets, _ = self.table(tiles, "MI350X-GEMM-X.json")
        self.assertEqual([b.last for b in buckets], [16, 32, 64, 128, 256, configs.ROWS])

    def test_a_file_of_the_shape_goes_before_the_general_one(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            nested = Path(folder, "gfx950/triton/gemm/gemm_x")
            nested.mkdir(parents=True)
            for name, m in (("DEFAULT", 32), ("GEMM-X-N=512-K=192", 64)):
                tiles = {"any": {"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": 256}}
                (nested / f"{name}.json").write_text(json.dumps(tiles))
            found = [
                configs.of_aiter([Path(folder)], "gfx950", "GEMM-X", 1, n, 192)[0][0].settings
                for n in (512, 256)
            ]
        self.assertEqual([each["BLOCK_SIZE_M"] for each in found], [64, 32])

    def test_what_is_unknown_is_named(self) -> None:
        for entries, word in (
            ({"M_LEQ_17": {}}, "M_LEQ_17"),
            ({"any": {"BLOCK_M": 1}}, "BLOCK_SIZE_M"),
            ([], "expected an object"),
        ):
            with self.subTest(word), self.assertRaisesRegex(ExportError, word):
                self.table(entries)
        with self.assertRaisesRegex(ExportError, "no tuned tiles of GEMM-X for gfx950"):
            self.table({}, "gfx1100-GEMM-X.json")


if __name__ == "__main__":
    unittest.main()
