"""Configs that are read, and those that are refused with the reason."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from chunktune_sglang.config import ConfigError, parse

GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden/sizer.json"


class Parsing(unittest.TestCase):
    def setUp(self) -> None:
        self.raw = json.loads(GOLDEN.read_text())

    def refusal(self, **changes: Any) -> str:
        with self.assertRaises(ConfigError) as caught:
            parse(json.dumps(self.raw | changes), "sizer.json")
        return str(caught.exception)

    def test_the_golden_file_is_read_in_full(self) -> None:
        config = parse(GOLDEN.read_text(), "golden")
        self.assertEqual((config.prefix_from[1], config.chunk[1]), (97_657, 1792))
        self.assertEqual(len(config.chunk), 8)
        self.assertEqual((config.page_size, config.max_context), (256, 781_250))
        self.assertFalse(config.exact_fill_force)

    def test_unknown_fields_are_ignored_and_another_schema_is_not(self) -> None:
        parse(json.dumps(self.raw | {"new": 1}), "sizer.json")
        self.assertIn("chunktune/sizer/v1", self.refusal(schema="chunktune/sizer/v2"))

    def test_every_field_is_named_when_it_is_wrong(self) -> None:
        for name, value in {
            "status": "maybe",
            "arch": None,
            "page_size": 0,
            "align": 100,
            "chunk_min": 4096,
            "chunk_max": True,
            "max_context": -1,
            "score_budgets": {"A": "1"},
            "exact_fill": {"force": 1},
            "profile_sha256": 5,
            "tp": 1.5,
        }.items():
            with self.subTest(name):
                self.assertIn(name, self.refusal(**{name: value}))

    def test_a_broken_table_is_refused_with_its_row(self) -> None:
        for table in (
            [],
            [[256, 2048]],
            [[0, 2048], [0, 1792]],
            [[0, 2000]],
            [[0, 4096]],
            [[0, 2048, 1]],
            [[0, "2048"]],
        ):
            with self.subTest(table=table):
                self.assertIn("table", self.refusal(table=table))


if __name__ == "__main__":
    unittest.main()
