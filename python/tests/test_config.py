"""Configs that are read, and those that are refused with the reason."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from chunktune_sglang.agree import Offer, read_offer
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

    def test_a_file_without_a_frontier_leaves_the_ends_of_prompts_as_they_are(self) -> None:
        older = {k: v for k, v in self.raw.items() if k not in ("frontier", "tail_fraction")}
        config = parse(json.dumps(older), "older")
        self.assertEqual(
            (config.frontier_from, config.frontier), (config.prefix_from, config.chunk)
        )
        self.assertEqual(config.tail_fraction, 0)

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
            "static_chunk": 10**30,
            "model": "two\nlines",
            "memory_path": "\ud800",
            "tail_fraction": 1.5,
            "frontier": [[0, 100]],
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

    def test_what_is_shown_of_a_wrong_value_fits_a_line_of_a_log(self) -> None:
        said = self.refusal(schema="x" * 100_000, status="\n")
        self.assertLess(len(said), 200)
        self.assertTrue(self.refusal(table=[[0, "\ud800" * 1000]]).isprintable())

    def test_text_that_is_no_sizer_is_refused_whatever_it_is(self) -> None:
        whole = GOLDEN.read_text()
        for text in (
            "",
            "[]",
            "null",
            "\ufeff" + whole,
            "[" * 200_000,
            '{"tp": ' + "9" * 5000 + "}",
            *(whole[:length] for length in range(0, len(whole) - 2, 97)),
        ):
            with self.subTest(text=text[:20]), self.assertRaises(ConfigError):
                parse(text, "sizer.json")


class Reading(unittest.TestCase):
    """The file that a process was given, whatever is there in its place."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def offer(self, name: str) -> Offer:
        with mock.patch.dict(os.environ, {"CHUNKTUNE_SIZER": str(self.folder / name)}):
            return read_offer()

    def test_the_bytes_of_the_file_are_what_is_hashed(self) -> None:
        data = GOLDEN.read_bytes().replace(b"\n", b"\r\n")
        (self.folder / "crlf.json").write_bytes(data)
        config = parse(self.offer("crlf.json").text, "crlf.json")
        self.assertEqual(config.sha256, hashlib.sha256(data).hexdigest())

    def test_what_is_no_readable_file_is_refused_at_once(self) -> None:
        (self.folder / "loop").symlink_to(self.folder / "loop")
        (self.folder / "latin").write_bytes(b'{"model": "\xe9"}')
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        with open(self.folder / "huge", "wb") as file:
            file.truncate(1 << 40)
        (self.folder / "closed").write_text("{}")
        (self.folder / "closed").chmod(0)
        cases = {
            "loop": "symbolic links",
            "latin": "utf-8",
            "folder": "name the sizer.json in it",
            "pipe": "no regular file",
            "huge": "more than any sizer",
            "absent": "No such file",
        }
        if os.geteuid() != 0:
            cases["closed"] = "denied"
        for name, words in cases.items():
            offer = self.offer(name)
            self.assertIsNone(offer.text)
            self.assertIn(words, offer.error)
            self.assertIn(str(self.folder / name), offer.error)


if __name__ == "__main__":
    unittest.main()
