"""Compare how fast and how small PackStore and its peers store a folder.

All tools store the same folders in the same run, because figures of two machines, or of two hours of one machine, cannot be
compared:

    Benchmarks/compare ingest                               folders made from the Swift toolchain
    Benchmarks/compare ingest FOLDER...                     your own folders
    Benchmarks/compare ingest --second-version FOLDER       new bytes after standard edits
    Benchmarks/compare ingest FOLDER --second FOLDER2       new bytes from one folder to the next

The figures of each tool and folder are medians of the runs:

    wall            seconds until the tool has returned
    wall + sync     seconds until os.sync() has returned after it, to compare tools that leave their output in the page cache
                    with tools that sync it
    CPU             user and system seconds of all its processes
    peak memory     the largest resident set; for a pipe the sum of its stages
    size            bytes of the files it wrote
    on disk         bytes allocated for its files and folders

Sources are read once before each round: the page cache is warm. Creating an empty repository (restic, borg) and the tools' own
caches do not count.
"""

import dataclasses
import functools
import os
import pathlib
import random
import shutil

import tools
from corpora import given_corpora, toolchain_corpora
from measuring import (
    COPY_BYTES, FolderState, Sample, ToolFailure, UserError, Workspace, files_below, measure_memory_floor, medians, progress,
    read_once, rotated, run_measured, series, tree_sizes, undisturbed,
)

OPTIONS = {
    "tools": [], "runs": 3, "retries": 0,
    "second_version": (False, "report the new bytes after standard edits instead"),
}
NEEDS_PACKSTORE = False
TOOLS = [
    tools.packstore("packstore"),
    tools.packstore("packstore-sequential", "--layout", "sequential"),
    tools.packstore("packstore-compact", "--layout", "compact"),
    # Syncs do not change the stored data, so a second version would show the same results again.
    tools.packstore("packstore-atomic", "--durability", "atomic", keeps_versions=False),
    tools.SQUASHFS, tools.TAR_ZSTD, tools.LONGTAIL, tools.restic("auto"), tools.borg(3), tools.CASYNC,
]
FIGURES = [field.name for field in dataclasses.fields(Sample)]


def add_options(add):
    add("folders", nargs="*", metavar="FOLDER", help="folders to store (default: made from the toolchain)")
    add("--second", metavar="FOLDER", help="report the new bytes when this folder follows")


def measure(run):
    chosen = tools.choose(TOOLS, run.arguments.tools, run.notes)
    corpora = given_corpora(run.arguments.folders)
    for corpus in corpora:
        if corpus.folder in run.work.parents:
            raise UserError(f"temporary files would be inside {corpus.name}: choose another --work")
    if not corpora:
        progress("making folders from the Swift toolchain")
        corpora = toolchain_corpora(run.work / "corpora")
    second = given_corpora([run.arguments.second])[0] if run.arguments.second else None
    head = {"versions": tools.tool_versions(chosen)}
    if second or run.arguments.second_version:
        return head | {"benchmark": "second-version", "runs": 1, "corpora": measure_second_versions(corpora, second, chosen, run)}
    return head | {"corpora": measure_first_versions(corpora, chosen, run)}


# MARK: - First version


def measure_first_versions(corpora, chosen, run):
    memory_floor = measure_memory_floor(run.work)
    run.notes.add(f"Peaks of memory below {memory_floor / 1e6:.0f} MB cannot be distinguished.")
    results = []
    for corpus in corpora:
        samples = {tool.key: [] for tool in chosen}
        working = list(chosen)
        for number in range(run.arguments.runs):
            read_once(corpus.folder)
            for tool in rotated(working, number):
                try:
                    sample = undisturbed(run.arguments.retries, f"{corpus.name} {tool.key}",
                                         lambda: ingest_once(tool, corpus.folder, run.work, memory_floor))
                except ToolFailure as failure:
                    working.remove(tool)
                    run.notes.add_failure(tool.key, corpus.name, failure)
                    continue
                samples[tool.key].append(sample)
                progress(f"{corpus.name} {number + 1}/{run.arguments.runs} {tool.key:22}{sample.wall_s:8.2f} s"
                         f"{sample.wall_synced_s:8.2f} s synced{sample.size_bytes / 1e6:9.1f} MB")
        run.notes.add_disturbance(corpus.name, [each for tool in working for each in samples[tool.key]])
        rows = [row_of(tool) | medians(samples[tool.key], *FIGURES) | {"samples": series(samples[tool.key], *FIGURES)}
                for tool in working]
        for name in ["wall_s", "wall_synced_s", "size_bytes"]:
            add_ratios(rows, name)
        results.append(corpus.describe() | {"rows": rows})
    return results


def ingest_once(tool, folder, work, memory_floor):
    workspace = Workspace(work / tool.key)
    try:
        tool.prepare(workspace)
        empty_size, empty_allocated = tree_sizes(workspace.out)
        sample = run_measured(tool.stages(workspace, folder, 1), workspace, folder, memory_floor)
        size, allocated = tree_sizes(workspace.out)
        sample.size_bytes, sample.allocated_bytes = size - empty_size, allocated - empty_allocated
        return sample
    finally:
        workspace.remove()


def row_of(tool):
    return {"tool": tool.key, "title": tool.title, "command": tool.typed, "peer": tool.is_peer}


def add_ratios(rows, name):
    """Divides a figure of each row by the best peer's: below 1 is faster, or smaller."""
    best = min((row[name] for row in rows if row["peer"]), default=None)
    for row in rows:
        row[f"{name}_vs_best_peer"] = round(row[name] / best, 3) if best else None


# MARK: - Second version


def largest_file(folder):
    return max(files_below(folder), key=os.path.getsize)


def insert_at_front(folder):
    path = largest_file(folder)
    with open(path, "rb") as old, open(path + ".edited", "wb") as new:
        new.write(b"!")
        shutil.copyfileobj(old, new, COPY_BYTES)
    shutil.copymode(path, path + ".edited")
    os.replace(path + ".edited", path)


def rename_folder(folder):
    entries = sorted(pathlib.Path(folder).iterdir())
    folders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if folders:
        largest = max(folders, key=lambda entry: tree_sizes(entry)[0])
        largest.rename(largest.with_name(largest.name + "-renamed"))
    else:
        target = pathlib.Path(folder) / "moved"
        target.mkdir()
        for entry in entries:
            entry.rename(target / entry.name)


def append_noise(folder):
    with open(largest_file(folder), "ab") as file:
        file.write(random.Random(1).randbytes(1 << 20))


STANDARD_EDITS = {
    "insert-front": ("one byte inserted at the front of the largest file", insert_at_front),
    "rename-folder": ("the largest folder renamed, or all files moved into one", rename_folder),
    "append": ("1 MiB of incompressible bytes appended to the largest file", append_noise),
}


def measure_second_versions(corpora, second, chosen, run):
    chosen = [tool for tool in chosen if tool.keeps_versions]
    run.notes.add("`new` is the growth of the store, `written` the bytes of its new and changed files.")
    run.notes.add("Restic chooses new chunk boundaries for each repository, so its figures vary by some percent.")
    run.notes.add("Standard edits are made in place: unedited files keep their inode and times.")
    results = []
    for corpus in corpora:
        changes = [("second-folder", f"from {corpus.name} to {second.name}", None)] if second else [
            (key, *edit) for key, edit in STANDARD_EDITS.items()]
        edits = []
        for key, description, edit in changes:
            progress(f"{corpus.name}: {description}")
            folders = [corpus.folder, second.folder] if second else [run.work / "copy"] * 2
            if not second:
                shutil.copytree(corpus.folder, run.work / "copy", symlinks=True)
            change = functools.partial(edit, folders[0]) if edit else lambda: None
            rows = second_version_rows(chosen, corpus.name, *folders, change, run)
            edits.append({"edit": key, "description": description, "rows": rows})
            shutil.rmtree(run.work / "copy", ignore_errors=True)
        results.append(corpus.describe() | {"edits": edits})
    return results


def second_version_rows(chosen, name, first, second, change, run):
    """Each tool stores the folder `first`; then `change` is called; then each tool stores `second`."""
    workspaces, rows = {}, []
    try:
        for tool in chosen:
            workspace = workspaces[tool.key] = Workspace(run.work / tool.key)
            try:
                tool.prepare(workspace)
                run_measured(tool.stages(workspace, first, 1), workspace, first)
            except ToolFailure as failure:
                run.notes.add_failure(tool.key, name, failure)
                workspaces.pop(tool.key).remove()
        change()
        read_once(second)
        for tool in chosen:
            if tool.key not in workspaces:
                continue
            workspace = workspaces[tool.key]
            before = FolderState(workspace.out)
            try:
                sample = run_measured(tool.stages(workspace, second, 2), workspace, second)
            except ToolFailure as failure:
                run.notes.add_failure(tool.key, name, failure)
                continue
            after = FolderState(workspace.out)
            rows.append(row_of(tool) | {
                "first_bytes": before.size_bytes, "new_bytes": after.size_bytes - before.size_bytes,
                "new_allocated_bytes": after.allocated_bytes - before.allocated_bytes,
                "written_bytes": after.written_since(before), "wall_s": round(sample.wall_s, 3)})
            progress(f"    {tool.key:22}{rows[-1]['new_bytes']:14,} bytes new")
    finally:
        for workspace in workspaces.values():
            workspace.remove()
    add_ratios(rows, "new_bytes")
    return rows
