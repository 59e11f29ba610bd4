"""Tests of the scripts of Benchmarks, without measuring anything.

Run by Scripts/check-benchmarks: python3 -m unittest discover --start-directory Benchmarks/Tests/ScriptTests
"""

import hashlib
import http.client
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as ElementTree

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(BENCHMARKS / "comparisons"))

import chart
import corpora
import fileserver
import measuring
import pairs
import pictures
import space
import tools
import update
import webpage

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
        made = corpora.History(self.folder / name, 150_000, seed, sources)
        versions = [content(made.folder)]
        for _ in range(count):
            made.update()
            versions.append(content(made.folder))
            self.assertEqual(sorted(made.paths), sorted(versions[-1]))
        return versions

    def test_the_seed_determines_a_history(self):
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

    def test_each_file_is_used_once_until_all_are_used(self):
        paths = [path for path, _ in corpora.drawn_files(1, self.make_sources())]
        self.assertEqual(len(paths), SOURCE_FILES)
        self.assertEqual(len(set(paths)), SOURCE_FILES)

    def test_too_few_files_are_refused(self):
        sources = self.make_sources()
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            corpora.History(self.folder / "a", 10**9, 1, sources)
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            corpora.write_pieces(self.folder / "pieces", 10**9, 1, sources)

    def test_pieces_are_named_in_their_order(self):
        names = corpora.write_pieces(self.folder / "pieces", 200_000, 1, self.make_sources())
        self.assertEqual(names, sorted(content(self.folder / "pieces")))
        self.assertGreaterEqual(measuring.tree_sizes(self.folder / "pieces")[0], 200_000)


class PackagedFolderTests(TemporaryFolderTest):
    def test_a_tenth_is_repeated_and_a_tenth_is_compressed(self):
        sources = self.make_sources()
        corpora.make_packaged_folder(self.folder / "made", 200_000, 1, sources)
        sizes = {name: measuring.tree_sizes(self.folder / "made" / name)[0] for name in ["plain", "repeated", "compressed"]}
        largest = 2_000 + 37 * SOURCE_FILES
        for name, expected in [("plain", 160_000), ("repeated", 20_000), ("compressed", 20_000)]:
            self.assertTrue(expected <= sizes[name] <= expected + largest, f"{name}: {sizes[name]} bytes")
        plain, repeated = content(self.folder / "made/plain"), content(self.folder / "made/repeated")
        self.assertEqual(repeated, {path: plain[path] for path in repeated})

    def test_too_few_files_are_refused(self):
        with self.assertRaisesRegex(measuring.UserError, "not enough"):
            corpora.make_packaged_folder(self.folder / "made", 10**9, 1, self.make_sources())


class DeadPiecesTests(unittest.TestCase):
    names = [f"{number:06}" for number in range(1000)]

    def runs(self, dead):
        chosen = set(dead)
        marks = "".join("d" if name in chosen else "." for name in self.names)
        return len(re.findall("d+", marks))

    def test_clusters_are_one_run_for_each_gigabyte(self):
        dead = space.choose_dead(self.names, "clustered", 1, 2.0)
        self.assertEqual((len(dead), len(set(dead)), self.runs(dead)), (300, 300, 2))

    def test_scattered_ones_are_everywhere(self):
        dead = space.choose_dead(self.names, "scattered", 1, 2.0)
        self.assertEqual((len(dead), len(set(dead))), (300, 300))
        self.assertGreater(self.runs(dead), 150)


class MeasuringTests(TemporaryFolderTest):
    def test_reads_of_a_grandchild_are_counted(self):
        path = self.folder / "file"
        path.write_bytes(bytes(3_000_000))
        workspace = measuring.Workspace(self.folder / "workspace")
        command = ["sh", "-c", f"cat {path} >/dev/null; cat {path} >/dev/null; true"]
        sample = measuring.run_measured([command], workspace, self.folder)
        self.assertGreaterEqual(sample.read_bytes, 6_000_000)
        self.assertLess(sample.read_bytes, 7_000_000)

    def test_private_memory_of_a_process_is_measured(self):
        program = "import os, sys\nheld = bytearray(64 << 20)\nwhile not os.path.exists(sys.argv[1]): pass"
        seen = self.folder / "seen"
        process = subprocess.Popen([sys.executable, "-c", program, seen])
        watch = measuring.MemoryWatch(process)
        # The process ends after the watch has seen its allocated memory, so the test does not depend on timing.
        while watch.peak_bytes < 64 << 20 and watch.thread.is_alive():
            pass
        seen.touch()
        process.wait()
        self.assertGreaterEqual(watch.peak(), 64 << 20)

    def test_a_disturbed_measurement_is_repeated(self):
        def sample(other):
            return measuring.Sample(wall_s=1, wall_synced_s=1, cpu_s=1, peak_rss_bytes=0, other_cpu_s=other)

        busy, calm = sample(measuring.PROCESSORS), sample(0)
        for samples, retries, expected in [([busy, calm], 2, calm), ([busy, busy], 1, busy), ([busy], 0, busy)]:
            remaining = iter(samples)
            self.assertIs(measuring.undisturbed(retries, "test", lambda: next(remaining)), expected)
            self.assertEqual(list(remaining), [])

    def test_a_program_that_takes_too_long_is_ended(self):
        workspace = measuring.Workspace(self.folder / "workspace")
        with self.assertRaisesRegex(measuring.Omission, "not done within"):
            measuring.run_measured([["sleep", "1000"]], workspace, self.folder, limit=0.1)

    def test_a_failure_is_the_last_line_without_paths(self):
        workspace = measuring.Workspace(self.folder / "workspace")
        with self.assertRaisesRegex(measuring.ToolFailure, "^exit status 3: cannot read WORK/file$"):
            measuring.run_measured([["sh", "-c", f"echo working; echo 'cannot read {workspace.root}/file' >&2; exit 3"]], workspace,
                                   self.folder)

    def test_written_bytes_are_those_of_new_and_changed_files(self):
        store = self.folder / "store"
        self.assertEqual(measuring.FolderState(store).size_bytes, 0)
        for name, size in [("kept", 10), ("changed", 20), ("replaced", 30)]:
            corpora.write(store / name, bytes(size))
        before = measuring.FolderState(store)
        corpora.write(store / "changed", bytes(25))
        corpora.write(store / "new", bytes(400))
        corpora.write(store / "other", bytes(30))
        os.replace(store / "other", store / "replaced")
        self.assertEqual(measuring.FolderState(store).written_since(before), 455)

    def test_folders_with_equal_files_have_the_same_content(self):
        first, second = self.folder / "a", self.folder / "b"
        for folder in [first, second]:
            folder.mkdir()
            (folder / "file").write_bytes(b"same")
        self.assertTrue(space.is_same_content(first, second))
        (second / "file").write_bytes(b"seam")
        self.assertFalse(space.is_same_content(first, second))
        (second / "file").write_bytes(b"same")
        (second / "more").write_bytes(b"")
        self.assertFalse(space.is_same_content(first, second))


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


    def test_bars_are_well_formed(self):
        headline = {"title": "A & B", "unit": "GB/s", "isMoreBetter": True, "bars": [
            {"name": "PackStore", "kind": "packStore", "value": 2, "text": "2.00"}, {"name": "<peer>", "kind": "peer", "value": 0, "text": "0"},
            {"name": "libzstd", "kind": "limit", "value": 4, "text": "4.00"}]}
        picture = pictures.picture({"headlines": [headline, headline | {"bars": []}]})
        root = ElementTree.fromstring(picture)
        self.assertEqual(len([element for element in root.iter() if element.tag.endswith("rect")]), 4)
        self.assertIn("GB/s, longer is better", picture)
        self.assertIsNone(pictures.picture({"benchmark": "serve"}))


class WebPageTests(unittest.TestCase):
    def test_headings_lists_tables_and_the_chart_are_shown(self):
        page = webpage.html("# A & B\n\n- `one`\n- two\n\n![chart](a.svg)\n\n| name | value |\n| --- | ---: |\n| **x** | 1 |\n",
                            "<svg/>")
        root = ElementTree.fromstring(page.partition("\n")[2])
        names = [element.tag for element in root.iter()]
        for name, count in [("h1", 1), ("li", 2), ("code", 1), ("svg", 1), ("th", 2), ("td", 2), ("b", 1), ("ul", 1), ("table", 1)]:
            self.assertEqual(names.count(name), count, name)


class FileServerTests(TemporaryFolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "file").write_bytes(bytes(range(100)))
        self.server = fileserver.FileServer(str(self.folder))
        self.addCleanup(self.server.stop)
        self.connection = http.client.HTTPConnection(*self.server.server.server_address, timeout=20)
        self.addCleanup(self.connection.close)

    def get(self, path, **fields):
        self.connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer

    def test_serves_files_and_ranges_and_counts_what_it_sends(self):
        whole, part = self.get("/file"), self.get("/file", Range="bytes=10-19")
        self.assertEqual((whole[0], whole[1]), (200, bytes(range(100))))
        self.assertEqual((part[0], part[1]), (206, bytes(range(10, 20))))
        self.assertEqual(part[2].headers["Content-Range"], "bytes 10-19/100")
        self.assertEqual(self.get("/none")[0], 404)
        exchanges = self.server.take_exchanges()
        self.assertEqual([one.path for one in exchanges], ["file", "file", "none"])
        self.assertGreater(exchanges[0].sent_bytes, 100)
        self.assertLess(exchanges[1].sent_bytes, exchanges[0].sent_bytes)
        self.assertEqual(self.server.take_exchanges(), [])

    def test_several_ranges_are_parts_of_one_answer(self):
        status, body, answer = self.get("/file", Range="bytes=0-1,-2")
        self.assertEqual(status, 206)
        self.assertTrue(answer.headers["Content-Type"].startswith("multipart/byteranges"))
        self.assertIn(b"Content-Range: bytes 98-99/100\r\n\r\n\x62\x63\r\n", body)

    def test_a_range_of_another_version_is_ignored(self):
        tag = self.get("/file")[2].headers["ETag"]
        self.assertEqual(self.get("/file", Range="bytes=0-1", If_Range=tag)[0], 206)
        self.assertEqual(self.get("/file", Range="bytes=0-1", If_Range='"other"')[0], 200)

    def test_ranges_are_parsed(self):
        for text, expected in [
            ("bytes=0-9", [(0, 10)]), ("bytes=90-", [(90, 100)]), ("bytes=-5", [(95, 100)]), ("bytes=95-200", [(95, 100)]),
            ("bytes=100-", []), ("bytes=0-0, 5-6", [(0, 1), (5, 7)]), ("bytes=-", None), ("lines=0-1", None), ("bytes=a-b", None),
        ]:
            self.assertEqual(fileserver.parse_ranges(text, 100), expected, text)


class PairTests(TemporaryFolderTest):
    def test_versions_differ_only_as_described(self):
        scale = pairs.Scale(large=200_000, assets=300, scattered=5_200, is_quick=True)
        for name in ["front-byte", "textures", "one-of-many", "scattered"]:
            made = [content(folder) for folder in self.make(name, scale)]
            changed = {path for path in made[0].keys() | made[1].keys() if made[0].get(path) != made[1].get(path)}
            expected = {"front-byte": 1, "textures": 3, "one-of-many": 1, "scattered": 2}[name]
            self.assertEqual(len(changed), expected, name)

    def test_unchanged_files_are_the_same_file(self):
        old, new = self.make("one-of-many", pairs.Scale(assets=50))
        same = [path for path in measuring.files_below(old) if os.path.samefile(path, new / os.path.relpath(path, old))]
        self.assertEqual(len(same), 49)

    def test_the_seed_determines_a_pair(self):
        scale = pairs.Scale(large=100_000)
        first, second = (content(self.make("front-byte", scale)[1]) for _ in range(2))
        self.assertEqual(first, second)

    def make(self, name, scale):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        pair = pairs.make(name, scale, 1, folder)
        return pair.old, pair.new

    def test_a_given_pair_is_a_name_and_two_folders(self):
        pair = update.given_pair(f"my game={self.folder},{self.folder}")
        self.assertEqual((pair.name, pair.old), ("my game", self.folder.resolve()))
        for wrong in [f"{self.folder},{self.folder}", f"a={self.folder}", f"a={self.folder},{self.folder}/none", "a/b=.,."]:
            with self.assertRaises(ValueError, msg=wrong):
                update.given_pair(wrong)


class UpdateTests(TemporaryFolderTest):
    def test_reads_the_public_key_of_a_root(self):
        key = bytes(range(1, 33))
        self.assertEqual(update.public_key(b"PKSROOT0" + bytes(88) + key + bytes(100)), "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=")
        for wrong in [b"PKSROOT0" + bytes(88) + key[:23], bytes(200)]:
            with self.assertRaises(measuring.ToolFailure):
                update.public_key(wrong)

    def test_frame_tables_have_a_kind(self):
        for name, kind in [("data", 1), ("pages", 2)]:
            corpora.write(self.folder / "frames" / name, b"PKSFRAM0" + bytes(4) + bytes([kind, 0, 0, 0]) + bytes(32))
        contents = [path for path in ["root", "versions/ab", "frames/cd", "segments/pages", "segments/data", "deltas/ef"]
                    if update.is_content(path, self.folder)]
        self.assertEqual(contents, ["segments/data", "deltas/ef"])

    def row(self, key, count, seconds=1.0, **more):
        used = {"s": seconds, "cpu_s": seconds, "private_bytes": 5 << 20, "written_bytes": 2_100_000}
        return {"key": key, "name": key, "bytes": count, "metadata_bytes": count // 10, "build": used, "apply": used, "ingest": used,
                "idle_private_bytes": 2 << 20, "new_stored_bytes": 2_000_000} | more

    def goals(self, *rows, **limits):
        return {goal["title"]: (round(goal["value"], 3), goal["reference"]) for goal in update.goals_of(rows, 10**9, limits)}

    def test_goals_compare_with_the_best_peer(self):
        goals = self.goals(self.row("packstore-ranges-12", 600_000), self.row("casync", 1_000_000), self.row("zchunk", 800_000),
                           self.row("packstore-delta-default", 50, 2.0), self.row("zstd-19-patch", 100, 8.0))
        self.assertEqual(goals["ranges, bytes"], (0.75, "zchunk"))
        self.assertEqual(goals["delta, bytes"], (0.5, "zstd-19-patch"))
        self.assertEqual(goals["delta, build time"], (0.25, "zstd-19-patch"))
        self.assertEqual(goals["ranges, metadata"][0], 0.1)
        self.assertEqual(goals["pull, private memory"], (3.0, "MiB above a client that finds nothing new"))
        self.assertEqual(goals["apply, rate"], (500, "MB/s"))
        self.assertEqual(goals["pull, written"], (1.05, "new chunks as stored"))

    def test_missing_figures_have_no_goal(self):
        self.assertEqual(self.goals(self.row("casync", 1)), {})
        small = self.goals(self.row("packstore-ranges-12", 90_000, new_stored_bytes=1000))
        self.assertEqual(list(small), ["pull, private memory"])

    def test_a_pair_can_have_limits(self):
        goals = self.goals(self.row("packstore-ranges-12", 90_000), self.row("packstore-delta-default", 70), delta=1, metadata=2)
        self.assertEqual([goals[name][0] for name in ["bytes of the delta", "metadata by ranges"]], [70, 9_000])
        self.assertNotIn("bytes by ranges", goals)

    def test_the_page_shows_rows_goals_and_absences(self):
        pair = {"name": "game", "explanation": "All changed.", "from": {"files": 1, "bytes": 10**6}, "to": {"files": 2, "bytes": 10**6},
                "installs": [self.row("packstore-install-12", 10**6)], "rows": [
                    self.row("packstore-ranges-12", 600_000), self.row("packstore-delta-default", 50_000), self.row("casync", 500_000)],
                "absences": [{"name": "borg", "reason": "failed"}]}
        pair["goals"] = update.goals_of(pair["rows"], 10**6, {})
        report = PageTests.report | {"benchmark": "update", "quick": False, "seconds": 9, "patience": 240.0, "absences": [],
                                     "pairs": [pair]}
        page = "\n".join(PAGE("update", report))
        self.assertIn("| game, 1 MB | **0.6** | **0.05 (1.0)** | 0.5 |", page)
        self.assertIn("| ranges, bytes, ≤ 0.750 | **1.20** |", page)
        self.assertIn("| game | 1 | 1 |  | 1 (1.00) |  |", page)
        self.assertIn("- borg: failed (game)", page)
        self.assertIn("own", pictures.picture(report))

    def test_sizes_have_three_digits(self):
        self.assertEqual([pictures.byte_text(count) for count in [402, 25_540, 1_140_000, 123_456_789]],
                         ["402 B", "25.5 KB", "1.14 MB", "123 MB"])


class ToolTests(TemporaryFolderTest):
    def test_commands_have_values_with_spaces(self):
        workspace = measuring.Workspace(self.folder / "a b")
        self.assertEqual(tools.TAR_ZSTD.stages(workspace, "my folder", 1)[0], ["tar", "-C", "my folder", "-cf", "-", "."])
        self.assertEqual(tools.borg(3).stages(workspace, "f", 2)[0][-2], f"{workspace.out}/repository::2")
        self.assertEqual(tools.OSTREE.drop(workspace, [1], [2, 3])[0][-1], "--depth=1")

    def test_unknown_and_missing_tools_are_reported(self):
        notes = measuring.Notes()
        missing = tools.Tool("none", "none", "none", ["no-such-program"])
        shell = tools.Tool("shell", "shell", "sh", ["sh"])
        self.assertEqual(tools.choose([missing, shell], [], notes), [shell])
        self.assertIn("`none`", notes.lines[0])
        with self.assertRaisesRegex(measuring.UserError, "unknown tool other: use none, shell"):
            tools.choose([missing, shell], ["other"], notes)

    def test_the_driver_refuses_wrong_options(self):
        for words, text in [(["other"], "unknown comparison"), (["space", "--updates", "7"], "multiple of 10"),
                            (["package", "--runs", "0"], "--runs must be above 0"), (["update", "--pair", "a=b"], "--pair"),
                            (["update", "--synthetic", "other"], "unknown pair 'other'")]:
            run = subprocess.run([sys.executable, "-B", BENCHMARKS / "compare", *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(text, run.stderr)


class EarlierReportTests(unittest.TestCase):
    """Measuring some parts again leaves the others of the report as they are."""

    def kept(self, parts, report):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "space.json"
            if report is not None:
                path.write_text(json.dumps(report), encoding="utf-8")
            return space.earlier_parts(types.SimpleNamespace(parts=parts, json=str(path)))

    def test_other_parts_are_kept(self):
        report = {"updates": {"a": 1}, "gc": {"b": 2}, "notes": ["n"], "versions": {"borg": "1"}, "date": "2026-01-01"}
        self.assertEqual(self.kept(["gc"], report), {"updates": {"a": 1}, "notes": ["n"], "versions": {"borg": "1"}})

    def test_a_whole_measurement_keeps_nothing(self):
        self.assertEqual(self.kept(list(space.PARTS), {"gc": {}, "notes": ["n"]}), {})
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

    def test_notes_of_a_part_are_shown(self):
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
