"""Measure the disk space of a store while its packs change, and the cost of freeing space.

    Benchmarks/compare space --json R.json                      all parts, within 15 minutes
    Benchmarks/compare space --parts updates,gc --json R.json   only these; the other parts of R.json stay
    Benchmarks/compare space --updates 20 --megabytes 64        fewer updates of a smaller folder

There are four parts, which the page Benchmarks/Results/space.md shows:

    updates     a history of updates of one pack, made from files of this machine and a seed, with two versions kept. The same
                versions are added to stores with different settings of collection. After each update: bytes of all files of the
                store, its segments, and the time to read the whole newest version. Every tenth update also compares them with a
                fresh store that received only the two kept versions.
    peers       a shorter history, all of whose versions PackStore and other programs keep. Then each drops all but two and
                frees the space that only the others needed: time, bytes written, bytes left; the last compared with a fresh
                repository of the same program.
    gc          a store with 30 % dead data, all over it or in few places, is collected wholly: bytes copied, private memory of
                the process, and the delay of a reader at the same time, compared with a plain program that writes as many bytes
                as the collection did.
    purge       a store with a purgeable pack: a purge of all of it compared with `unlink` of the same files, reads of it compared
                with reads of the same pack placed durable, and the cost of restoring the data after a purge of half of it.

A version is read as a whole by `packstore extract` into a folder in memory, so that no disk is written at the same time; once
with the store in the page cache, and every tenth update also from disk. The version extracted every tenth update is compared
with the folder. Bytes written are those the system counts for a process and its children, in whole pages.
"""

import dataclasses
import filecmp
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

import tools
from corpora import History, write_pieces
from measuring import (
    PACKAGE, Sample, ToolFailure, Workspace, describe_folder, files_below, median, medians, progress, read_once, rotated,
    run_measured, tree_sizes, undisturbed,
)

PARTS = ["updates", "peers", "gc", "purge"]
KEPT_VERSIONS = 2
CHECK_EVERY = 10
DEAD_SHARE = 0.3
BUDGET = "100MB"
ALONE_SECONDS = 3
MEMORY_FOLDER = "/dev/shm"
OPTIONS = {
    "tools": [], "runs": 3, "retries": 0, "seed": 1, "parts": (PARTS, "measure only these parts"),
    "updates": (100, "updates of the long history, a multiple of 10"), "peer_updates": (20, "updates of the history that peers keep"),
    "megabytes": (128, "size of the updated folder"), "gigabytes": (1.0, "size of the assets of 'gc' and 'purge'"),
    "bench": (PACKAGE / ".build/release/packstore-bench", "packstore-bench, which times reads"),
}


def fault(arguments):
    """The error of an option's value; `None` if all are valid."""
    if unknown := set(arguments.parts) - set(PARTS):
        return f"unknown part '{unknown.pop()}': use {', '.join(PARTS)}"
    if arguments.updates % CHECK_EVERY:
        return f"--updates must be a multiple of {CHECK_EVERY}"
    return f"--peer-updates must be at least {KEPT_VERSIONS}" if arguments.peer_updates < KEPT_VERSIONS else None


# MARK: - Stores


def store_of(workspace):
    return workspace.out / "store"


def gc(workspace, *options):
    return tools.command("packstore gc {store} --json", *options, store=store_of(workspace))


def segment_sizes(store):
    """Name -> bytes of each segment."""
    folder = pathlib.Path(store) / "segments"
    return {entry.name: entry.stat().st_size for entry in os.scandir(folder)}


class WholeReader:
    """Reads the whole newest version of a store."""

    def __init__(self, folder, retries):
        self.target = pathlib.Path(folder) / "extracted"
        self.retries = retries

    def read(self, workspace, is_cold=False, source=None):
        """A Sample of reading. The extracted folder must equal `source`, if it is given."""
        def extract():
            if is_cold:
                forget_pages(workspace.out)
            try:
                words = tools.command("packstore extract {store} {target} --quiet", store=store_of(workspace), target=self.target)
                sample = run_measured([words], workspace, workspace.root)
                if source and not is_same_content(source, self.target):
                    raise ToolFailure("the extracted folder differs from the stored one")
                return sample
            finally:
                shutil.rmtree(self.target, ignore_errors=True)

        return undisturbed(self.retries, "reading", extract)


def forget_pages(folder):
    """Drops the files below `folder` from the page cache."""
    os.sync()
    for path in files_below(folder):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def is_same_content(first, second):
    """Whether two folders have the same files with the same bytes."""
    names = [sorted(os.path.relpath(path, folder) for path in files_below(folder)) for folder in (first, second)]
    if names[0] != names[1]:
        return False
    _, different, unread = filecmp.cmpfiles(first, second, names[0], shallow=False)
    return not different and not unread


# MARK: - Updates


@dataclasses.dataclass
class Line:
    """A store of the history, and its options of collection: by `add`, and by `gc` every tenth update."""

    key: str
    title: str
    add_options: list
    gc_options: list | None = None

    @property
    def command(self):
        add = " ".join(["packstore add STORE FOLDER --pack P --quiet", *self.add_options])
        return add if self.gc_options is None else f"{add}; packstore gc STORE {' '.join(self.gc_options)}"


LINES = [
    Line("gc-0", "nothing copied: --gc 0", ["--gc", "0"]),
    Line("default", "defaults", []),
    Line("default-gc", f"defaults, and gc --budget {BUDGET}", [], ["--budget", BUDGET]),
]


class UpdateRun:
    """The stores of all lines, and their figures."""

    def __init__(self, history, reader, work):
        self.history, self.reader, self.work = history, reader, work
        self.folder = pathlib.Path(history.folder)
        self.workspaces = {line.key: Workspace(work / line.key) for line in LINES}
        self.fresh = None
        self.samples = []
        self.points = {line.key: [] for line in LINES}
        self.checks = []

    def take_version(self, number, is_last):
        """Adds the current version to all stores, and measures them."""
        read_once(self.folder)
        is_check = number > 0 and number % CHECK_EVERY == 0
        for line in rotated(LINES, number):
            self.points[line.key].append(self._store(line, number, is_check))
        if (number + 1) % CHECK_EVERY == 0 and not is_last:
            self.fresh = Workspace(self.work / "fresh")
            run_measured([tools.add(self.fresh, self.folder)], self.fresh, self.folder)
        if is_check:
            run_measured([tools.add(self.fresh, self.folder)], self.fresh, self.folder)
            self.checks.append(self._check(number))
            self.fresh.remove()
        else:
            for line in rotated(LINES, number):
                sample = self.reader.read(self.workspaces[line.key])
                self.samples.append(sample)
                self.points[line.key][-1] |= reading(sample)

    def _store(self, line, number, is_check):
        workspace = self.workspaces[line.key]
        add = run_measured([tools.add(workspace, self.folder, *line.add_options)], workspace, self.folder)
        collection = None
        if line.gc_options is not None and is_check:
            collection = run_measured([gc(workspace, *line.gc_options)], workspace, self.folder)
        stored, allocated = tree_sizes(workspace.out)
        return {
            "update": number,
            "stored_bytes": stored,
            "allocated_bytes": allocated,
            "segments": len(segment_sizes(store_of(workspace))),
            "add_s": round(add.wall_s, 3),
            "add_written_bytes": add.written_bytes,
            "gc_s": round(collection.wall_s, 3) if collection else 0,
            "gc_written_bytes": collection.written_bytes if collection else 0,
        }

    def _check(self, number):
        """Compares all stores with a fresh one, in turns."""
        stores = [("fresh", self.fresh), *((line.key, self.workspaces[line.key]) for line in LINES)]
        warm, cold = {key: [] for key, _ in stores}, {key: [] for key, _ in stores}
        for turn in range(3):
            for key, workspace in rotated(stores, turn):
                source = self.folder if turn == 0 else None
                cold[key].append(self.reader.read(workspace, is_cold=True, source=source))
                warm[key].append(self.reader.read(workspace))
                self.samples += [cold[key][-1], warm[key][-1]]
        found = {}
        for key, workspace in stores:
            found[key] = reading(*warm[key]) | {"cold_read_s": reading(*cold[key])["read_s"]}
            found[key]["stored_bytes"] = tree_sizes(workspace.out)[0]
        for line in LINES:
            self.points[line.key][-1] |= {key: found[line.key][key] for key in ["read_s", "read_bytes"]}
        ratios = {key: one["stored_bytes"] / found["fresh"]["stored_bytes"] for key, one in found.items()}
        progress(f"update {number}: " + ", ".join(f"{line.key} {ratios[line.key]:.2f} x" for line in LINES))
        return {"update": number, "stores": found}


def reading(*samples):
    """The medians of reading everything."""
    return {
        "read_s": round(statistics.median(sample.wall_s for sample in samples), 4),
        "read_bytes": round(statistics.median(sample.read_bytes for sample in samples)),
    }


def measure_updates(run):
    progress("updates: making the first version from files of this machine")
    history = History(run.work / "app", run.arguments.megabytes * 10**6, run.arguments.seed)
    in_memory = MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else run.work
    with tempfile.TemporaryDirectory(prefix="compare-space-", dir=in_memory) as target:
        updates = UpdateRun(history, WholeReader(target, run.arguments.retries), run.work)
        return updates_of(updates, run.arguments.updates, run.notes)


def updates_of(run, count, notes):
    """Adds the whole history to all stores."""
    history = run.history
    first = describe_folder(history.folder)
    folders, changed = [first["bytes"]], []
    run.take_version(0, is_last=False)
    for number in range(1, count + 1):
        changed.append(history.update())
        folders.append(describe_folder(history.folder)["bytes"])
        run.take_version(number, is_last=number == count)
    notes.add_disturbance("reading after updates", run.samples)
    return {
        "updates": count,
        "kept_versions": KEPT_VERSIONS,
        "folder": first,
        "folder_bytes": folders,
        "changed_files": changed,
        "lines": [
            {"key": line.key, "title": line.title, "command": line.command, "points": run.points[line.key]} for line in LINES
        ],
        "checks": run.checks,
    }


# MARK: - Peers


def own_tools(last_version):
    """PackStore as its peers, and with its defaults."""
    def keep_all(workspace, folder, version):
        keep = ["--keep", KEPT_VERSIONS, "--keep-generation"] if version == last_version else ["--keep", version]
        return [tools.add(workspace, folder, "--gc", "0", *keep)]

    history = tools.Tool(
        "packstore-gc", "packstore gc", "packstore add STORE FOLDER --pack P --keep ALL --gc 0", ["packstore"], is_peer=False,
        dropping="packstore gc STORE, after 'add --keep KEPT --gc 0 --keep-generation' of the last version",
        drops=lambda out, dropped, kept: [tools.command("packstore gc {out}/store --json", out=out)])
    # Keeps every version until the last, which drops the others and leaves all their files to `gc`.
    history.stages = keep_all
    # Keeps two versions all the time, so that no version is dropped at the end.
    defaults = tools.Tool(
        "packstore-default", "packstore, two versions all the time", "packstore add STORE FOLDER --pack P",
        ["packstore add {out}/store {folder} --pack P --quiet"], is_peer=False,
        dropping="no command: each 'add' drops a version and collects", drops=lambda out, dropped, kept: [])
    return [history, defaults]


def measure_peers(chosen, run):
    arguments, notes = run.arguments, run.notes
    last = arguments.peer_updates + 1
    history = History(run.work / "app", arguments.megabytes * 10**6, arguments.seed)
    first = describe_folder(history.folder)
    kept, fresh = {}, {}
    stored = {tool.key: [] for tool in chosen}
    for version in range(1, last + 1):
        if version > 1:
            history.update()
        read_once(history.folder)
        progress(f"peers: version {version} of {last}")
        for tool in rotated(chosen, version):
            try:
                stored[tool.key].append(store_version(tool, kept, run.work / "kept", history.folder, version))
                if version > last - KEPT_VERSIONS:
                    store_version(tool, fresh, run.work / "fresh", history.folder, version)
            except ToolFailure as failure:
                notes.add_failure(tool.key, f"version {version}", failure)
                chosen = [other for other in chosen if other is not tool]
    saved = {tool.key: saved_copy(kept[tool.key]) for tool in chosen}
    dropped = list(range(1, last - KEPT_VERSIONS + 1)), list(range(last - KEPT_VERSIONS + 1, last + 1))
    samples = {tool.key: [] for tool in chosen}
    before = {tool.key: tree_sizes(kept[tool.key].out)[0] for tool in chosen}
    for turn in range(arguments.runs):
        for tool in rotated(chosen, turn):
            restore(kept[tool.key], saved[tool.key])
            try:
                samples[tool.key].append(drop_versions(tool, kept[tool.key], *dropped))
            except ToolFailure as failure:
                notes.add_failure(tool.key, "dropping versions", failure)
                chosen = [other for other in chosen if other is not tool]
    notes.add_disturbance("dropping versions", [sample for tool in chosen for sample in samples[tool.key]])
    rows = [
        peer_row(tool, stored[tool.key], before[tool.key], samples[tool.key], tree_sizes(fresh[tool.key].out)[0])
        for tool in chosen
    ]
    return {"versions": last, "kept_versions": KEPT_VERSIONS, "folder": first, "runs": arguments.runs, "rows": rows}


def store_version(tool, workspaces, work, folder, version):
    """Stores a version in the tool's workspace, which is made for the first."""
    if tool.key not in workspaces:
        workspaces[tool.key] = Workspace(work / tool.key)
        tool.prepare(workspaces[tool.key])
    workspace = workspaces[tool.key]
    return run_measured(tool.stages(workspace, folder, version), workspace, folder)


def saved_copy(workspace):
    """A copy of a workspace, with the tool's caches, to restore it from."""
    saved = workspace.root.with_name(workspace.root.name + ".saved")
    shutil.copytree(workspace.root, saved, symlinks=True)
    return saved


def restore(workspace, saved):
    shutil.rmtree(workspace.root)
    shutil.copytree(saved, workspace.root, symlinks=True)


def restore_files(workspace, saved):
    """Restores a workspace in its existing folders: a store's cache belongs to the folder that contains the store."""
    for path in [path for path in workspace.root.rglob("*") if path.is_symlink() or not path.is_dir()]:
        path.unlink()
    shutil.copytree(saved, workspace.root, symlinks=True, dirs_exist_ok=True)


def drop_versions(tool, workspace, dropped, kept):
    """A Sample of all commands together."""
    samples = [run_measured([command], workspace, workspace.root, is_watched=True) for command in tool.drop(workspace, dropped, kept)]
    total = {field.name: sum(getattr(sample, field.name) for sample in samples) for field in dataclasses.fields(Sample)}
    total["private_peak_bytes"] = max((sample.private_peak_bytes for sample in samples), default=0)
    total["size_bytes"], total["allocated_bytes"] = tree_sizes(workspace.out)
    return Sample(**total)


def peer_row(tool, stored, before_bytes, samples, fresh_bytes):
    left = median(samples, "size_bytes")
    return {
        "tool": tool.key,
        "title": tool.title,
        "command": tool.typed,
        "dropping": tool.dropping,
        "peer": tool.is_peer,
        "stored_s": round(sum(sample.wall_s for sample in stored), 3),
        "stored_written_bytes": sum(sample.written_bytes for sample in stored),
        "before_bytes": before_bytes,
        **medians(samples, "wall_s", "wall_synced_s", "cpu_s", "private_peak_bytes", "written_bytes"),
        "left_bytes": left,
        "left_allocated_bytes": median(samples, "allocated_bytes"),
        "fresh_bytes": fresh_bytes,
        "left_vs_fresh": round(left / fresh_bytes, 3),
    }


# MARK: - Full collection


class PauseReader:
    """`packstore-bench pauses`, which reads 64 KiB at random places of a store until it is stopped."""

    def __init__(self, program, store):
        self.process = subprocess.Popen(
            [program, "pauses", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        if not self.process.stdout.readline():
            raise ToolFailure(f"exit status {self.process.wait()}: packstore-bench pauses read nothing")

    def stop(self):
        """Stops the reader and returns the times of its reads."""
        answer, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise ToolFailure(f"exit status {self.process.returncode}: packstore-bench pauses")
        return json.loads(answer)


def choose_dead(names, arrangement, seed, gigabytes):
    """Names of the pieces to remove: chosen one by one, or in one run for each gigabyte."""
    count = round(len(names) * DEAD_SHARE)
    if arrangement == "scattered":
        return random.Random(f"{seed} dead").sample(names, count)
    clusters = max(1, round(gigabytes))
    stretch = len(names) // clusters
    return [name for cluster in range(clusters) for name in names[cluster * stretch :][: count // clusters]]


def measure_collection(run):
    pieces, names, folder = make_pieces("gc", run)
    bench = str(run.arguments.bench.absolute()) if has_pauses(run.arguments.bench) else None
    if not bench:
        run.notes.add("Pauses of a reader are left out: packstore-bench is missing, or has no command 'pauses'.")
    rows = []
    for arrangement in ["scattered", "clustered"]:
        progress(f"gc: {arrangement}")
        dead = choose_dead(names, arrangement, run.arguments.seed, run.arguments.gigabytes)
        trial = CollectionTrial(run.arguments.runs, bench, run.work / arrangement)
        rows.append({"arrangement": arrangement} | trial.measure(pieces, names, dead))
    return {"folder": folder, "dead_share": DEAD_SHARE, "rows": rows}


def make_pieces(part, run):
    gigabytes = run.arguments.gigabytes
    progress(f"{part}: making {gigabytes:g} GB of assets from files of this machine")
    pieces, byte_count = run.work / "pieces", round(gigabytes * 1e9)
    names = write_pieces(pieces, byte_count, run.arguments.seed)
    return pieces, names, {"files": len(names), "bytes": byte_count}


def has_pauses(bench):
    """Whether the program exists and has the command that times reads: older ones lack it."""
    if not os.access(bench, os.X_OK):
        return False
    answer = subprocess.run([str(bench.absolute()), "pauses", "--help"], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and "packstore-bench pauses" in answer.stdout


class CollectionTrial:
    """A store with 30 % dead data, and its collection."""

    def __init__(self, runs, bench, work):
        self.runs, self.bench, self.work = runs, bench, work

    def measure(self, pieces, names, dead):
        folder = self.work / "app"
        folder.mkdir(parents=True)
        for name in names:
            os.link(pieces / name, folder / name)
        store, fresh = Workspace(self.work / "store"), Workspace(self.work / "fresh")
        options = ["--keep", "1", "--gc", "0", "--keep-generation"]
        run_measured([tools.add(store, folder, *options)], store, folder)
        for name in dead:
            (folder / name).unlink()
        run_measured([tools.add(store, folder, *options)], store, folder)
        run_measured([tools.add(fresh, folder)], fresh, folder)
        saved = saved_copy(store)
        result = self._collect(store, fresh)
        if self.bench:
            result["pauses"] = self._pauses(store, saved, result["written_bytes"])
        shutil.rmtree(self.work)
        return result

    def _collect(self, store, fresh):
        path = store_of(store)
        before = segment_sizes(path)
        stored_before = tree_sizes(store.out)[0]
        sample = run_measured([gc(store)], store, store.root, is_watched=True)
        answer = json.loads(store.log.read_text(encoding="utf-8"))
        run_measured([tools.command("packstore verify {path} --quiet", path=path)], store, store.root)
        after = segment_sizes(path)
        gone, new = before.keys() - after.keys(), after.keys() - before.keys()
        live = sum(segment_sizes(store_of(fresh)).values())
        untouched = sum(size for name, size in before.items() if name in after)
        return {
            "stored_before_bytes": stored_before,
            "stored_after_bytes": tree_sizes(store.out)[0],
            "fresh_bytes": tree_sizes(fresh.out)[0],
            "dead_bytes": sum(before.values()) - live,
            "touched_segments": len(gone),
            "segments_before": len(before),
            "touched_live_bytes": max(0, live - untouched),
            "copied_bytes": sum(after[name] for name in new),
            "answer": answer,
            **medians([sample], "wall_s", "cpu_s", "written_bytes", "private_peak_bytes"),
        }

    def _pauses(self, store, saved, written_bytes):
        """Times of a reader's reads alone, during a collection, and during a program that writes as many bytes."""
        found = {"alone": [], "gc": [], "writer": []}
        for _ in range(self.runs):
            restore(store, saved)
            read_once(store.out)
            found["alone"].append(self._during(store, ["sleep", str(ALONE_SECONDS)]))
            target = self.work / "written"
            plain = ["dd", "if=/dev/zero", f"of={target}", "bs=512K", f"count={written_bytes >> 19}", "conv=fsync"]
            found["writer"].append(self._during(store, plain))
            target.unlink()
            found["gc"].append(self._during(store, gc(store)))
        return {
            key: {name: statistics.median(one[name] for one in samples) for name in ["reads", "median_ns", "p999_ns", "longest_ns"]}
            for key, samples in found.items()
        }

    def _during(self, store, command):
        reader = PauseReader(self.bench, store_of(store))
        try:
            run_measured([command], store, store.root)
        except ToolFailure:
            reader.process.kill()
            raise
        return reader.stop()


# MARK: - Purging


class PurgeTrial:
    """A store with one purgeable pack, and the costs of purges."""

    def __init__(self, arguments, work):
        self.runs, self.work = max(arguments.runs, 3), work
        self.bench = str(arguments.bench.absolute())
        self.samples = []
        self.durable, self.purgeable = Workspace(work / "durable"), Workspace(work / "purgeable")
        self.site = work / "site"

    def measure(self, folder):
        key = self.work / "key"
        self._run(self.durable, tools.add(self.durable, folder), tools.command("packstore keygen {key}", key=key))
        self._run(self.durable, tools.command("packstore publish {store} {site} --key {key} --quiet", store=store_of(self.durable),
                                              site=self.site, key=key))
        whole = self._pull(self.purgeable)
        self._run(self.purgeable, tools.command("packstore place {store} P purgeable --quiet", store=store_of(self.purgeable)))
        saved = saved_copy(self.purgeable)
        found = {"runs": self.runs, "whole": whole} | self._purges(saved)
        restore_files(self.purgeable, saved)
        found["reads"] = self._reads()
        found["heals"] = [self._restore(saved, share) for share in [0.5, 1]]
        return found

    def _run(self, workspace, *commands):
        for command in commands:
            run_measured([command], workspace, workspace.root)

    def _answer(self, workspace, command):
        """Runs a command and returns its Sample and the object that it printed."""
        sample = run_measured([command], workspace, workspace.root)
        self.samples.append(sample)
        return sample, json.loads(workspace.log.read_text(encoding="utf-8").splitlines()[-1])

    def _pull(self, workspace, *options):
        sample, answer = self._answer(workspace, tools.command(
            "packstore pull {store} {site} --json --quiet", *options, store=store_of(workspace), site=self.site))
        counts = {name: answer["packs"][0][name] for name in ["missing_bytes", "frame_bytes", "metadata_bytes"]}
        return {"wall_s": round(sample.wall_s, 3), **counts, "requests": answer["requests"]}

    def _cache(self):
        """The cache folder that contains the pack's files."""
        return next(self.purgeable.scratch.rglob("segments"))

    def _purges(self, saved):
        """Times of a purge, and of unlinking the same files."""
        times, gone = {"purge": [], "unlink": []}, {}
        for turn in range(self.runs):
            for way in rotated(list(times), turn):
                restore_files(self.purgeable, saved)
                os.sync()
                named = ["--folder", str(self._cache())] if way == "unlink" else [str(store_of(self.purgeable))]
                _, gone[way] = self._answer(self.purgeable, [self.bench, "purge", *named])
                times[way].append(gone[way]["nanoseconds"])
            if gone["purge"]["files"] != gone["unlink"]["files"]:
                raise ToolFailure(f"a purge unlinked {gone['purge']['files']} files of {gone['unlink']['files']}")
        return {
            "files": gone["unlink"]["files"],
            "bytes": gone["unlink"]["freed_bytes"],
            "purge_ns": statistics.median(times["purge"]),
            "unlink_ns": statistics.median(times["unlink"]),
        }

    def _reads(self):
        """Medians of reads of 64 KiB by placement of the pack, including the cost to record when data was last used."""
        times = {"durable": [], "purgeable": []}
        workspaces = {"durable": self.durable, "purgeable": self.purgeable}
        for workspace in workspaces.values():
            read_once(workspace.root)
        for turn in range(4 * self.runs):
            for key in rotated(list(times), turn):
                reader = PauseReader(self.bench, store_of(workspaces[key]))
                time.sleep(1)
                times[key].append(reader.stop()["median_ns"])
        return {f"{key}_ns": statistics.median(values) for key, values in times.items()}

    def _restore(self, saved, share):
        """Purges a share of the pack, and fetches it again."""
        restore_files(self.purgeable, saved)
        size = sum(path.stat().st_size for path in self._cache().iterdir())
        store = store_of(self.purgeable)
        _, answer = self._answer(self.purgeable, tools.command("packstore purge {store} --json", round(size * share), store=store))
        pulled = self._pull(self.purgeable, "P")
        self._run(self.purgeable, tools.command("packstore verify {store} --quiet", store=store))
        return {"share": share, "freed_bytes": answer["freed_bytes"]} | pulled


def measure_purge(run):
    pieces, _, folder = make_pieces("purge", run)
    trial = PurgeTrial(run.arguments, run.work)
    found = trial.measure(pieces)
    run.notes.add_disturbance("purging and restoring", trial.samples)
    return {"folder": folder} | found


# MARK: - Parts


def earlier_parts(arguments):
    """The other parts of an earlier report, with their notes."""
    left_out = [part for part in PARTS if part not in arguments.parts]
    if not left_out or not arguments.json or not os.path.exists(arguments.json):
        return {}
    report = json.loads(pathlib.Path(arguments.json).read_text(encoding="utf-8"))
    earlier = {key: report[key] for key in [*left_out, "notes", "versions"] if key in report}
    failures = tuple(f"failed on part '{part}'" for part in arguments.parts)
    return earlier | {"notes": [line for line in earlier.get("notes", []) if not any(text in line for text in failures)]}


def measure(run):
    arguments, notes = run.arguments, run.notes
    own = own_tools(arguments.peer_updates + 1)
    everything = [*own, tools.borg(3), tools.restic("auto"), tools.OSTREE, tools.CASYNC]
    chosen = tools.choose(everything, arguments.tools, notes) if "peers" in arguments.parts else own
    earlier = earlier_parts(arguments)
    report = earlier | {"versions": earlier.get("versions", {}) | tools.tool_versions(chosen)}
    general = [*earlier.get("notes", []), *(line for line in notes.lines if line not in earlier.get("notes", []))]
    measures = {"updates": measure_updates, "peers": lambda part: measure_peers(chosen, part), "gc": measure_collection,
                "purge": measure_purge}
    for name in [part for part in PARTS if part in arguments.parts]:
        part = dataclasses.replace(run, work=run.work / name)
        part.work.mkdir()
        before = len(notes.lines)
        try:
            report[name] = measures[name](part) | {"notes": notes.lines[before:]}
        except ToolFailure as failure:
            notes.add_failure("packstore-default", f"part '{name}'", failure)
            general += notes.lines[before:]
        shutil.rmtree(part.work)
    return report | {"notes": general}
