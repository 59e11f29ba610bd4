"""Tests of what the scripts of Benchmarks share, of compare-space and of compare-package, without measuring anything.

Run by Scripts/check-benchmarks: python3 -m unittest discover --start-directory Benchmarks/Tests/ScriptTests
"""

import hashlib
import json
import os
import pathlib
import re
import runpy
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as ElementTree

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(BENCHMARKS))

import chart  # The scripts lie in a folder that is no package.
import history
import measuring

PACKAGE = runpy.run_path(str(BENCHMARKS / "compare-package"))
SPACE = runpy.run_path(str(BENCHMARKS / "compare-space"))
PAGE = runpy.run_path(str(BENCHMARKS / "summarize"))["page"]
SOURCE_FILES = 120


class TemporaryFolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make_sources(self):
        """Files to make a history of. One is too small for it, and one has two names."""
        sources = self.folder / "sources"
        for number in range(SOURCE_FILES):
            path = sources / f"{number % 7}" / f"file{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(hashlib.shake_128(str(number).encode()).digest(2_000 + 37 * number))
        (sources / "small").write_bytes(b"x")
        os.link(sources / "0" / "file0.txt", sources / "another name")
        return [str(sources)]


def content(folder):
    """Path -> digest of each file."""
    return {
        os.path.relpath(path, folder): hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        for path in measuring.files_below(folder)
    }


class HistoryTests(TemporaryFolderTest):
    def versions(self, name, seed, sources, count):
        made = history.History(self.folder / name, 150_000, seed, sources)
        versions = [content(made.folder)]
        for _ in range(count):
            made.update()
            versions.append(content(made.folder))
            self.assertEqual(sorted(made.paths), sorted(versions[-1]))
        return versions

    def test_the_seed_alone_draws_a_history(self):
        sources = self.make_sources()
        first = self.versions("a", 1, sources, 12)
        self.assertEqual(first, self.versions("b", 1, sources, 12))
        self.assertNotEqual(first[0], self.versions("c", 2, sources, 0)[0])

    def test_every_update_changes_some_files_and_keeps_most(self):
        versions = self.versions("a", 1, self.make_sources(), 12)
        for before, after in zip(versions, versions[1:]):
            kept = [path for path in before if after.get(path) == before[path]]
            self.assertLess(len(kept), len(before))
            self.assertGreater(len(kept), len(before) // 2)

    def test_each_file_is_drawn_once_until_all_were(self):
        drawn = [path for path, _ in history.drawn_files(1, self.make_sources())]
        self.assertEqual(len(drawn), SOURCE_FILES)
        self.assertEqual(len(set(drawn)), SOURCE_FILES)

    def test_files_that_are_not_enough_are_refused(self):
        sources = self.make_sources()
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            history.History(self.folder / "a", 10**9, 1, sources)
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            history.write_pieces(self.folder / "pieces", 10**9, 1, sources)

    def test_pieces_are_named_in_their_order(self):
        names = history.write_pieces(self.folder / "pieces", 200_000, 1, self.make_sources())
        self.assertEqual(names, sorted(content(self.folder / "pieces")))
        self.assertGreaterEqual(measuring.tree_sizes(self.folder / "pieces")[0], 200_000)


class PackagedFolderTests(TemporaryFolderTest):
    def test_a_tenth_lies_there_twice_and_a_tenth_is_compressed(self):
        sources = self.make_sources()
        PACKAGE["make_folder"](self.folder / "made", 200_000, 1, sources)
        sizes = {name: measuring.tree_sizes(self.folder / "made" / name)[0] for name in ["plain", "repeated", "compressed"]}
        largest = 2_000 + 37 * SOURCE_FILES
        for name, expected in [("plain", 160_000), ("repeated", 20_000), ("compressed", 20_000)]:
            self.assertTrue(expected <= sizes[name] <= expected + largest, f"{name}: {sizes[name]} bytes")
        plain, repeated = content(self.folder / "made/plain"), content(self.folder / "made/repeated")
        self.assertEqual(repeated, {path: plain[path] for path in repeated})

    def test_files_that_are_not_enough_are_refused(self):
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            PACKAGE["make_folder"](self.folder / "made", 10**9, 1, self.make_sources())


class DeadPiecesTests(unittest.TestCase):
    names = [f"{number:06}" for number in range(1000)]

    def runs(self, dead):
        chosen = set(dead)
        marks = "".join("d" if name in chosen else "." for name in self.names)
        return len(re.findall("d+", marks))

    def test_clusters_are_one_run_for_each_gigabyte(self):
        dead = SPACE["choose_dead"](self.names, "clustered", 1, 2.0)
        self.assertEqual((len(dead), len(set(dead)), self.runs(dead)), (300, 300, 2))

    def test_scattered_ones_are_everywhere(self):
        dead = SPACE["choose_dead"](self.names, "scattered", 1, 2.0)
        self.assertEqual((len(dead), len(set(dead))), (300, 300))
        self.assertGreater(self.runs(dead), 150)


class MeasuringTests(TemporaryFolderTest):
    def test_what_a_child_of_a_child_reads_is_counted(self):
        path = self.folder / "file"
        path.write_bytes(bytes(3_000_000))
        workspace = measuring.Workspace(self.folder / "workspace")
        command = ["sh", "-c", f"cat {path} >/dev/null; cat {path} >/dev/null; true"]
        sample = measuring.run_measured([command], workspace, self.folder)
        self.assertGreaterEqual(sample.read_bytes, 6_000_000)
        self.assertLess(sample.read_bytes, 7_000_000)

    def test_private_memory_of_a_process_is_seen(self):
        watch = SPACE["MemoryWatch"]()
        workspace = measuring.Workspace(self.folder / "workspace")
        program = "import sys; held = bytearray(64 << 20); print(open('/proc/self/stat').read() != '', len(held))"
        # The process ends after the watch has seen its allocated memory, so the test does not depend on timing.
        command = [sys.executable, "-c", program + "\nimport os\nwhile not os.path.exists('seen'): pass"]

        def watching(process):
            watch(process)
            while watch.peak_bytes < 64 << 20 and watch.thread.is_alive():
                pass
            (self.folder / "seen").touch()

        measuring.run_measured([command], workspace, self.folder, watch=watching)
        self.assertGreaterEqual(watch.peak(), 64 << 20)

    def test_folders_with_equal_files_have_the_same_content(self):
        first, second = self.folder / "a", self.folder / "b"
        for folder in [first, second]:
            folder.mkdir()
            (folder / "file").write_bytes(b"same")
        self.assertTrue(SPACE["is_same_content"](first, second))
        (second / "file").write_bytes(b"seam")
        self.assertFalse(SPACE["is_same_content"](first, second))
        (second / "file").write_bytes(b"same")
        (second / "more").write_bytes(b"")
        self.assertFalse(SPACE["is_same_content"](first, second))


class ChartTests(unittest.TestCase):
    def test_ticks_are_round_and_reach_the_top(self):
        self.assertEqual(chart.ticks(100), [0, 25, 50, 75, 100])
        self.assertEqual(chart.ticks(430), [0, 200, 400, 600])
        self.assertEqual(chart.ticks(0.9), [0, 0.25, 0.5, 0.75, 1.0])
        self.assertEqual(chart.ticks(0)[0], 0)

    def test_a_chart_is_well_formed_and_holds_every_point(self):
        curve = chart.Curve("stored <bytes>", [(0, 0), (50, 17), (100, 93)])
        dots = chart.Curve("a fresh store", [(10, 5), (100, 60)], is_limit=True)
        picture = chart.svg("A & B", [chart.Panel("Stored", "MB", "updates", [curve, dots])] * 2)
        root = ElementTree.fromstring(picture)
        lines = [element for element in root.iter() if element.tag.endswith("polyline")]
        self.assertEqual(len(lines), 4)
        for line in lines:
            for place in line.get("points").split():
                x, y = map(float, place.split(","))
                self.assertTrue(chart.LEFT <= x <= chart.RIGHT and chart.TOP <= y <= chart.BOTTOM, place)
        self.assertEqual(len([element for element in root.iter() if element.tag.endswith("circle")]), 4)
        self.assertIn("prefers-color-scheme: dark", picture)

    def test_a_panel_without_points_is_empty(self):
        ElementTree.fromstring(chart.svg("none", [chart.Panel("Stored", "MB", "updates", [chart.Curve("a", [])])]))


class EarlierReportTests(unittest.TestCase):
    """Measuring some parts again leaves the others of the report as they are."""

    def kept(self, parts, report):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "space.json"
            if report is not None:
                path.write_text(json.dumps(report), encoding="utf-8")
            return SPACE["earlier_parts"](types.SimpleNamespace(parts=parts, json=str(path)))

    def test_other_parts_are_kept(self):
        report = {"updates": {"a": 1}, "gc": {"b": 2}, "notes": ["n"], "versions": {"borg": "1"}, "date": "2026-01-01"}
        self.assertEqual(self.kept(["gc"], report), {"updates": {"a": 1}, "notes": ["n"], "versions": {"borg": "1"}})

    def test_a_whole_measurement_keeps_nothing(self):
        self.assertEqual(self.kept(list(SPACE["PARTS"]), {"gc": {}, "notes": ["n"]}), {})
        self.assertEqual(self.kept(["gc"], None), {})


class PageTests(unittest.TestCase):
    report = {
        "benchmark": "space",
        "date": "2026-01-01",
        "seed": 1,
        "versions": {"packstore": "1.0"},
        "notes": ["A note."],
        "machine": {
            "cpu": "CPU", "processors": 2, "memory_gb": 8, "file_system": "ext4", "system": "Debian", "kernel": "6.1"
        },
    }

    def line(self, sizes):
        points = [
            {"update": number, "stored_bytes": size, "segments": number + 1, "add_written_bytes": 10**6, "gc_written_bytes": 0}
            for number, size in enumerate(sizes)
        ]
        return {"key": "default", "title": "defaults", "command": "packstore add", "points": points}

    def check(self, update, size, seconds):
        def one(stored, read):
            return {"stored_bytes": stored, "read_s": read, "cold_read_s": 2 * read, "read_bytes": stored}

        return {"update": update, "stores": {"fresh": one(10**8, 1.0), "default": one(size, seconds)}}

    def test_the_worst_of_all_updates_is_shown(self):
        updates = {
            "updates": 2, "kept_versions": 2, "folder": {"files": 3, "bytes": 10**8}, "folder_bytes": [10**8] * 3,
            "lines": [self.line([10**8, 15 * 10**7, 12 * 10**7])],
            "checks": [self.check(1, 15 * 10**7, 1.25), self.check(2, 12 * 10**7, 1.0)],
        }
        page = "\n".join(PAGE("space", self.report | {"updates": updates}))
        self.assertIn("| defaults | 120.0 | 1.50 | 1.20 | 0.80 | 0.80 | 1.50 | 3 | 2 |", page)
        self.assertIn("<!-- readme -->", page)

    def test_what_is_said_of_a_part_is_shown(self):
        row = {"arrangement": "scattered", "stored_before_bytes": 10, "stored_after_bytes": 8, "fresh_bytes": 8, "dead_bytes": 2,
               "touched_segments": 1, "segments_before": 1, "touched_live_bytes": 8, "copied_bytes": 8, "wall_s": 0.1, "cpu_s": 0.1,
               "written_bytes": 9, "private_peak_bytes": 1 << 20}
        part = {"folder": {"files": 2, "bytes": 10}, "dead_share": 0.3, "rows": [row], "notes": ["A busy machine."]}
        page = "\n".join(PAGE("space", self.report | {"gc": part}))
        shown = page[page.index("<!-- readme -->"):]
        self.assertIn("- A note.\n- A busy machine.", shown)

    def test_packaging_is_shown_beside_adding(self):
        row = {"title": "package", "command": "packstore package", "wall_s": 1.2, "wall_synced_s": 1.3, "cpu_s": 2.0,
               "peak_rss_bytes": 5 * 10**7, "written_bytes": 2 * 10**8, "size_bytes": 10**8}
        level = {"level": 3, "rows": [row], "wall_ratio": 1.2, "wall_synced_ratio": 1.1, "written_per_byte": 2.0}
        report = self.report | {"benchmark": "package", "runs": 3, "folder": {"files": 2, "bytes": 10**9}, "levels": [level]}
        page = "\n".join(PAGE("package", report))
        self.assertIn("| package | 1.20 | 1.30 | 2.00 | 50 | 200.0 | 100.0 |", page)
        self.assertIn("| level 3 | 1.20 | 1.10 | 2.00 |", page)

    def test_managed_calls_are_shown_with_their_limits(self):
        calls = [{"name": "manifest", "question": "what?", "limit": 0.02, "seconds": [0.001, 0.003, 0.002]},
                 {"name": "Store.offers", "question": "what?", "seconds": [0.004]}]
        page = "\n".join(PAGE("managed", self.report | {
            "benchmark": "managed", "runs": 3, "packs": 1000, "assets": 500, "calls": calls}))
        self.assertIn("| what? | `manifest` | 2,000 | 3,000 | 20,000 |", page)
        self.assertIn("| what? | `Store.offers` | 4,000 | 4,000 |  |", page)

    def test_a_part_that_is_missing_is_left_out(self):
        page = "\n".join(PAGE("space", self.report))
        self.assertIn("- A note.", page)
        self.assertNotIn("Beside programs", page)


if __name__ == "__main__":
    unittest.main()
