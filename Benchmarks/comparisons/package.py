"""Measure packaging, compared with adding the same folder to a fresh store.

    Benchmarks/compare package --json R.json                a folder of 1 GB, made from files of this machine
    Benchmarks/compare package --megabytes 100 --runs 1     a smaller folder, once

`packstore package` and `packstore add` store the same folder with equal level and layout. Both sync their output. The figures
are medians of the runs:

    wall            seconds until the program has returned
    wall + sync     seconds until os.sync() has returned after it
    CPU             user and system seconds of all its processes
    written         bytes that it made the system write to disks, in whole pages
    size            bytes of the archive, or of the store's files

The folder has files of the machine in an order that the seed determines, a tenth of its bytes twice under other names, and a
tenth of incompressible bytes: files of the machine, compressed by zlib. It is read once before each round, so the page cache is
warm.
"""

import json
import os

import tools
from corpora import make_packaged_folder
from measuring import (
    ToolFailure, Workspace, describe_folder, medians, progress, read_once, rotated, run_measured, run_quietly, series, tree_sizes,
    undisturbed,
)

OPTIONS = {
    "runs": 3, "retries": 0, "seed": 1, "megabytes": (1000, "size of the folder"), "levels": ([3, 12], "levels of compression"),
}
FIGURES = ["wall_s", "wall_synced_s", "cpu_s", "written_bytes", "size_bytes"]
TITLES = {"add": "add into a fresh store", "package": "package"}
TYPED = {
    "add": "packstore add STORE FOLDER --pack P --quiet",
    "package": "packstore package Manifest.json -o P.pack --quiet --key KEY",
}


def measure(run):
    progress("making the folder from files of this machine")
    folder = run.work / "folder"
    make_packaged_folder(folder, run.arguments.megabytes * 10**6, run.arguments.seed)
    run_quietly(tools.command("packstore keygen {key} --quiet", key=run.work / "key"), Workspace(run.work / "keys"))
    levels = []
    for level in run.arguments.levels:
        try:
            levels.append(measure_level(folder, level, run))
        except ToolFailure as failure:
            run.notes.add_failure("packstore", f"level {level}", failure)
    return {"versions": tools.versions({"packstore": "--version"}), "folder": describe_folder(folder), "levels": levels}


def measure_level(folder, level, run):
    """A row for each command at one level."""
    options = ["--level", str(level), "--layout", "random"]
    samples = {key: [] for key in TITLES}
    for number in range(run.arguments.runs):
        read_once(folder)
        for key in rotated(list(samples), number):
            sample = undisturbed(run.arguments.retries, key, lambda: store_once(key, folder, options, run.work))
            samples[key].append(sample)
            progress(f"level {level}, {number + 1}/{run.arguments.runs} {key:8}{sample.wall_s:7.2f} s"
                     f"{sample.written_bytes / 1e6:9.1f} MB written")
    run.notes.add_disturbance(f"level {level}", [each for list in samples.values() for each in list])
    add, package = rows = [
        {"key": key, "title": TITLES[key], "command": " ".join([TYPED[key], *options])}
        | medians(samples[key], *FIGURES, "peak_rss_bytes") | {"samples": series(samples[key], *FIGURES)} for key in samples]
    return {
        "level": level,
        "rows": rows,
        "wall_ratio": round(package["wall_s"] / add["wall_s"], 3),
        "wall_synced_ratio": round(package["wall_synced_s"] / add["wall_synced_s"], 3),
        "written_per_byte": round(package["written_bytes"] / package["size_bytes"], 3),
    }


def store_once(key, folder, options, work):
    workspace = Workspace(work / key)
    try:
        command = tools.add(workspace, folder, *options) if key == "add" else package_command(workspace, folder, options)
        sample = run_measured([command], workspace, folder)
        sample.size_bytes, sample.allocated_bytes = tree_sizes(workspace.out)
        return sample
    finally:
        workspace.remove()


def package_command(workspace, folder, options):
    manifest = workspace.scratch / "Manifest.json"
    manifest.write_text(json.dumps({
        "assetPackID": "P", "downloadPolicy": {"onDemand": {}}, "platforms": ["macOS"],
        "fileSelectors": [{"directory": name} for name in sorted(os.listdir(folder))],
    }), encoding="utf-8")
    return tools.command("packstore package {manifest} -o {out}/P.pack --quiet --key {key}", *options, manifest=manifest,
                         out=workspace.out, key=folder.parent / "key")
