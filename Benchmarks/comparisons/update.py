"""Measure an update of a client from one version of a folder to the next, compared with other tools.

    Benchmarks/compare update --pair game=Game-1,Game-2 --pair tools=Tools-1,Tools-2
    Benchmarks/compare update --synthetic front-byte,headers    generated pairs; without pairs all of them
    Benchmarks/compare update --quick --tools packstore         a tenth of the generated data, one tool

Each tool runs once, and nothing leaves this machine. The figures of each way to update:

    fetch      bytes that the client fetches. For PackStore and zsync the web server counts them, with the heads of answers; for
               casync they are the new chunks and the index, for zchunk the output of its own tool, for restic and borg the growth
               of the repository, for patches the file
    metadata   the part of it that is not content: root, manifests, frame tables, pages; indexes
    site       the bytes that the publisher's run added to the data it keeps
    add        time to add the new version to the publisher's store, if that is a separate step
    make       time to make the client's download, with the old version published already. Making tar files, which patches need,
               does not count
    apply      time from the download to the new version on disk; for PackStore's ranges and zsync including the download from
               this machine. The new version is compared with the original
    memory     the most private memory, sampled every few milliseconds, without mapped files
    kept       bytes of the client's files that are new or changed
    written    bytes that the process made the system write, in pages, also temporary files; and the same for each byte of the new
               chunks, as the client stores them
"""

import base64
import filecmp
import json
import os
import pathlib
import re
import shutil
import time

import pairs
import tools
from fileserver import FileServer
from measuring import (
    PROCESSORS, FolderState, Omission, ToolFailure, UserError, Workspace, describe_folder, progress, run_measured,
)

FORMAT = 2
OPTIONS = {
    "tools": [], "seed": 1, "synthetic": ([], f"pairs to generate: {', '.join(pairs.KINDS)}"),
    "size": (1000, "megabytes of the largest generated asset"),
    "assets": (2000, "generated assets of a pair in which one changes: 100,000 take minutes"),
    "patience": (240.0, "seconds after which each run of a peer's program is ended, and left out"),
    "quick": (False, "a tenth of the generated data: a test that all works, not for figures"),
}
MINUTES = "it would take minutes"


def add_options(add):
    add("--pair", action="append", default=[], type=given_pair, metavar="NAME=OLD,NEW", help="two versions of a folder; repeatable")


def given_pair(text):
    name, _, folders = text.partition("=")
    old, _, new = folders.partition(",")
    if not re.fullmatch(r"[\w. -]+", name) or not all(folder and os.path.isdir(folder) for folder in [old, new]):
        raise ValueError(text)
    return pairs.Pair(name, pathlib.Path(old).resolve(), pathlib.Path(new).resolve())


def fault(arguments):
    """The error of an option's value; `None` if all are valid."""
    if unknown := set(arguments.synthetic) - set(pairs.KINDS):
        return f"unknown pair '{unknown.pop()}': use {', '.join(pairs.KINDS)}"
    names = [pair.name for pair in arguments.pair] + arguments.synthetic
    twice = [name for name in names if names.count(name) > 1]
    return f"two pairs have the name '{twice[0]}': results are reported by name" if twice else None


# MARK: - One pair


class Trial:
    """A pair under measurement, in the folder `work`, which has a folder for each tool."""

    def __init__(self, pair, work, patience):
        self.pair, self.work, self.patience = pair, work, patience
        self.largest = max(describe_folder(folder)["bytes"] for folder in [pair.old, pair.new])
        self.samples, self.archives = [], {}

    def run(self, words, workspace=None, folder=None, limit=None):
        """A Sample of one command, with its private memory."""
        workspace = workspace or self.workspace
        self.samples.append(run_measured([words], workspace, folder or workspace.out, is_watched=True, limit=limit))
        return self.samples[-1]

    def run_peer(self, template, folder=None, **values):
        return self.run(tools.command(template, out=self.workspace.out, **values), folder=folder, limit=self.patience)

    def begin(self, key):
        self.workspace = Workspace(self.work / key)

    def answer(self):
        """The object that the last command printed."""
        return json.loads(self.workspace.log.read_text(encoding="utf-8").splitlines()[-1])

    def tar(self, version):
        """A version as a tar file without times and owners, for tools that process single files. Made once, not measured."""
        if version not in self.archives:
            path = self.archives[version] = self.work / f"{version}.tar"
            self.run(tools.command(
                "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C {folder} -cf {path} .",
                folder=getattr(self.pair, version), path=path))
        return self.archives[version]

    def expect_equal(self, path, expected):
        if not filecmp.cmp(path, expected, shallow=False):
            raise ToolFailure(f"wrong bytes in {pathlib.Path(path).name}")


def usage(*samples):
    """The JSON of commands that run one after another."""
    return {
        "s": round(sum(sample.wall_s for sample in samples), 3), "cpu_s": round(sum(sample.cpu_s for sample in samples), 3),
        "private_bytes": max(sample.private_peak_bytes for sample in samples),
        "written_bytes": sum(sample.written_bytes - sample.cancelled_bytes for sample in samples),
    }


# MARK: - PackStore


def measure_packstore(trial):
    """Ranges of a site, published at two levels, and deltas at three.

    The first level is for comparison with peers that compress at about that level. After each update, outside the measured time,
    the client's store is compared with the publisher's.
    """
    for level in [3, 12]:
        place = trial.workspace.out / str(level)
        place.mkdir()
        names = {name: place / name for name in ["store", "site", "key", "client", "before"]}
        run = lambda template, **values: trial.run(tools.command(template, **names, **values))
        run("packstore keygen {key} --quiet")

        def publish(folder):
            ingest = run("packstore add {store} {folder} --pack P --quiet", folder=folder)
            before = FolderState(names["site"])
            build = run("packstore publish {store} {site} --key {key} --level {level} --deltas 0 --quiet", level=level)
            return {"published_bytes": FolderState(names["site"]).written_since(before), "ingest": usage(ingest),
                    "build": usage(build)}

        published = publish(trial.pair.old)
        server = FileServer(str(names["site"]))
        try:
            yield {"key": f"packstore-install-{level}", "name": f"packstore, level {level}"} | published | pull(
                trial, names, server)
            shutil.copytree(names["client"], names["before"])
            published = publish(trial.pair.new)
            yield {"key": f"packstore-ranges-{level}", "name": f"packstore, ranges, level {level}"} | published | pull(
                trial, names, server)
        finally:
            server.stop()
        if level == 12:
            yield from measure_deltas(trial, names)
        shutil.rmtree(place)


def pull(trial, names, server):
    command = tools.command("packstore pull {client} {url} --quiet --json", client=names["client"], url=server.url())
    before = FolderState(names["client"])
    server.take_exchanges()
    applied, answer = trial.run(command), trial.answer()
    exchanges, kept = server.take_exchanges(), FolderState(names["client"]).written_since(before)
    check(trial, names["client"], names["store"])
    idle = trial.run(command)
    metadata = [one for one in exchanges if not is_content(one.path, names["site"])]
    return {
        "bytes": sum(one.sent_bytes for one in exchanges), "metadata_bytes": sum(one.sent_bytes for one in metadata),
        "requests": len(exchanges), "apply": usage(applied), "kept_bytes": kept,
        "new_stored_bytes": answer["packs"][0].get("new_stored_bytes"), "idle_private_bytes": idle.private_peak_bytes,
    }


def is_content(path, site):
    """Whether a file of a site has content of assets: bytes 12 to 15 of a frame table are the kind, 1 data, 2 metadata."""
    if not path.startswith("segments/"):
        return path.startswith("deltas/")
    table = site / "frames" / pathlib.Path(path).name
    head = table.read_bytes()[:16] if table.exists() else b""
    return not (head.startswith(b"PKSFRAM0") and head[12:] == b"\2\0\0\0")


def measure_deltas(trial, names):
    for level in ["fast", "default", "best"]:
        delta, client = names["store"].with_name(f"delta-{level}"), names["store"].with_name(f"client-{level}")
        built = trial.run(tools.command("packstore delta {site} P@1 P@2 -o {delta} --level {level} --key {key} --quiet", **names,
                                        delta=delta, level=level))
        shutil.copytree(names["before"], client)
        before = FolderState(client)
        command = tools.command("packstore apply {client} {delta} --trust {trusted} --quiet --json", client=client, delta=delta,
                                trusted=public_key((names["site"] / "root").read_bytes()))
        applied, answer = trial.run(command), trial.answer()
        kept = FolderState(client).written_since(before)
        idle = trial.run(command)
        check(trial, client, names["store"])
        size = delta.stat().st_size
        yield {
            "key": f"packstore-delta-{level}", "name": f"packstore, delta, {level}", "bytes": size, "published_bytes": size,
            "build": usage(built), "apply": usage(applied), "kept_bytes": kept,
            "new_stored_bytes": answer.get("new_stored_bytes"), "idle_private_bytes": idle.private_peak_bytes,
        }
        shutil.rmtree(client)


def public_key(root):
    """The key in the bytes of a new site's root, in the text form of `--trust`. Its authority has only a delegation."""
    authority = root[60:]
    key = authority[36:68]
    if not root.startswith(b"PKSROOT0") or len(key) != 32 or authority[:4] != bytes(4):
        raise ToolFailure("packstore publish: no root")
    return base64.b64encode(key).decode()


def check(trial, client, store):
    """Fails unless the client has the publisher's current version, and every byte of it."""
    trial.run(tools.command("packstore verify {client} --deep --quiet", client=client))
    catalogs = []
    for folder in [client, store]:
        trial.run(tools.command("packstore log {folder} P --json", folder=folder))
        answer = json.loads(trial.workspace.log.read_text(encoding="utf-8"))
        catalogs.append([version["catalog"] for version in answer["packs"][0]["versions"] if version["current"]])
    if catalogs[0] != catalogs[1] or not catalogs[0]:
        raise ToolFailure("the client has not the publisher's version")


# MARK: - Peers


def measure_casync(trial):
    """Chunks of both versions in one store. The client fetches new chunks, and the whole index."""
    trial.run(tools.CASYNC.stages(trial.workspace, trial.pair.old, "old")[0], limit=trial.patience)
    before = FolderState(trial.workspace.out)
    built = trial.run(tools.CASYNC.stages(trial.workspace, trial.pair.new, "new")[0], limit=trial.patience)
    fetched = FolderState(trial.workspace.out).written_since(before)
    index = (trial.workspace.out / "new.caidx").stat().st_size
    extract = "casync extract --store={out}/store.castr"
    trial.run_peer(extract + " {out}/old.caidx {out}/old")
    applied = trial.run_peer(extract + " --seed={out}/old {out}/new.caidx {out}/new")
    yield {"key": "casync", "bytes": fetched, "metadata_bytes": index, "published_bytes": fetched, "build": usage(built),
           "apply": usage(applied), "kept_bytes": describe_folder(trial.workspace.out / "new")["bytes"]}


def measure_zchunk(trial):
    """One file of chunks for each version. The client fetches the header and the chunks that it lacks."""
    trial.run_peer("zck -o {out}/old.zck {tar}", tar=trial.tar("old"))
    built = trial.run_peer("zck -o {out}/new.zck {tar}", tar=trial.tar("new"))
    trial.run_peer("zck_delta_size {out}/old.zck {out}/new.zck")
    found = re.search(r"Would download (\d+) of \d+ bytes", trial.workspace.log.read_text(errors="replace"))
    if not found:
        raise ToolFailure("zck_delta_size: no number of bytes to download")
    yield {"key": "zchunk", "bytes": int(found[1]), "published_bytes": (trial.workspace.out / "new.zck").stat().st_size,
           "build": usage(built)}


def measure_zsync(trial):
    """Blocks of a file at any place of another, found by the client, which fetches the rest by ranges."""
    site, made = trial.workspace.out / "site", trial.workspace.out / "made.tar"
    site.mkdir()
    # Compressed in the served folder: gzip writes its output next to its input.
    shutil.copyfile(trial.tar("new"), site / "new.tar")
    built = [trial.run_peer("gzip -9 -n --rsyncable new.tar", folder=site),
             trial.run_peer("zsyncmake -C -o new.zsync -u new.tar.gz new.tar.gz", folder=site)]
    server = FileServer(str(site))
    try:
        applied = trial.run_peer("zsync -q -i {old} -o {made} {url}", old=trial.tar("old"), made=made, url=server.url("new.zsync"))
    finally:
        server.stop()
    exchanges = server.take_exchanges()
    trial.expect_equal(made, trial.tar("new"))
    yield {"key": "zsync", "bytes": sum(one.sent_bytes for one in exchanges),
           "metadata_bytes": sum(one.sent_bytes for one in exchanges if one.path == "new.zsync"), "requests": len(exchanges),
           "published_bytes": describe_folder(site)["bytes"], "build": usage(*built), "apply": usage(applied),
           "kept_bytes": made.stat().st_size}


def repository(tool):
    """A backup program's repository: the data that the second version adds to it. None restores partially, so no client is
    measured."""
    def measure(trial):
        tool.prepare(trial.workspace)
        sizes = []
        for version in ["old", "new"]:
            folder = getattr(trial.pair, version)
            built = trial.run(tool.stages(trial.workspace, folder, version)[0], folder=folder, limit=trial.patience)
            sizes.append(describe_folder(trial.workspace.out)["bytes"])
        yield {"key": tool.key, "bytes": sizes[1] - sizes[0], "published_bytes": sizes[1] - sizes[0], "build": usage(built)}

    return measure


def patch(key, build, apply):
    """A program that makes a patch of two tar files, and a program that applies it."""
    def measure(trial):
        old, new = trial.tar("old"), trial.tar("new")
        # xdelta3 accepts powers of two, up to 2 GiB; with its default it searches only 64 MB for old bytes.
        window = min(1 << 30, max(64 << 20, 1 << (old.stat().st_size - 1).bit_length()))
        values = {"old": old, "new": new, "window": window}
        built = trial.run_peer(build, **values)
        applied = trial.run_peer(apply, **values)
        trial.expect_equal(trial.workspace.out / "made.tar", new)
        yield {"key": key, "bytes": (trial.workspace.out / "patch").stat().st_size, "build": usage(built), "apply": usage(applied),
               "kept_bytes": (trial.workspace.out / "made.tar").stat().st_size}

    return measure


class Participant:
    """A tool. Above `limit` bytes of either version it is left out for `reason`."""

    def __init__(self, name, programs, measure, limit=None, reason=MINUTES, version="--version"):
        self.name, self.programs, self.measure, self.limit, self.reason = name, programs.split(), measure, limit, reason
        self.version = version

    def missing_program(self):
        return next((name for name in self.programs if not shutil.which(tools.PATHS.get(name, name))), None)


def zstd(level, limit=None):
    # The window covers the old version automatically; the decoder needs permission to use that much memory.
    return Participant(f"zstd -{level} --patch-from", "zstd tar", patch(
        f"zstd-{level}-patch", f"zstd -{level} -q -f --patch-from={{old}} {{new}} -o {{out}}/patch",
        "zstd -d -q -f --long=31 --patch-from={old} {out}/patch -o {out}/made.tar"), limit)


def hdiffpatch(key, option):
    return Participant(f"HDiffPatch {option}, zstd 21", "hdiffz hpatchz tar", patch(
        key, f"hdiffz {option} -c-zstd-21-24 -f {{old}} {{new}} {{out}}/patch",
        "hpatchz -f {old} {out}/patch {out}/made.tar"), version="-v")


PARTICIPANTS = [
    Participant("packstore", "packstore", measure_packstore),
    zstd(3), zstd(19, 450e6),
    Participant("xdelta3 -9", "xdelta3 tar", patch(
        "xdelta3-9", "xdelta3 -9 -e -f -q -B {window} -s {old} {new} {out}/patch",
        "xdelta3 -d -f -q -B {window} -s {old} {out}/patch {out}/made.tar"), 450e6, version="-V"),
    Participant("bsdiff", "bsdiff bspatch tar", patch(
        "bsdiff", "bsdiff {old} {new} {out}/patch", "bspatch {old} {out}/made.tar {out}/patch"), 100e6,
        f"{MINUTES}, and 17 times their memory"),
    hdiffpatch("hdiffpatch-m6", "-m-6"), hdiffpatch("hdiffpatch-s64", "-s-64"),
    Participant("casync, zstd", "casync", measure_casync),
    Participant("zchunk", "zck zck_delta_size tar", measure_zchunk, 600e6),
    Participant("zsync, gzip --rsyncable", "zsync zsyncmake gzip tar", measure_zsync, 450e6, version="-V"),
    Participant("restic, compression max", "restic", repository(tools.restic("max")), version="version"),
    Participant("borg, zstd 12", "borg", repository(tools.borg(12))),
    # The cost of an update without any of the other methods.
    Participant("whole version, zstd -19", "zstd tar", patch(
        "whole-zstd-19", f"zstd -19 -T{PROCESSORS} -q {{new}} -o {{out}}/patch", "zstd -d -q {out}/patch -o {out}/made.tar"), 450e6),
]


# MARK: - Goals


def goals_of(rows, new_bytes, limits):
    """The goals that the rows of a pair have figures for: PackStore's figure divided by the best peer's, or the figure itself."""
    rows = {row["key"]: row for row in rows}
    ranges, delta = rows.get("packstore-ranges-12"), rows.get("packstore-delta-default")
    goals = []

    def goal(title, value, limit, reference, is_at_least=False):
        goals.append({"title": title, "value": value, "limit": limit, "reference": reference, "is_at_least": is_at_least})

    def ratio(title, own, others, limit, figure=lambda row: row["bytes"]):
        found = [(figure(rows[key]), rows[key]["name"]) for key in others if key in rows and figure(rows[key])]
        if own in rows and found:
            goal(title, figure(rows[own]) / min(found)[0], limit, min(found)[1])

    ratio("ranges, bytes", "packstore-ranges-12", ["casync", "zchunk"], 0.75)
    ratio("ranges, bytes", "packstore-ranges-12", ["restic-max", "borg-zstd-12"], 0.88)
    ratio("delta, bytes", "packstore-delta-default", ["zstd-19-patch"], 1)
    ratio("delta, build time", "packstore-delta-default", ["zstd-19-patch"], 1 / 3, lambda row: row["build"]["s"])
    ratio("best delta, bytes", "packstore-delta-best", ["hdiffpatch-m6", "hdiffpatch-s64"], 1)
    # Below that, root, manifest and heads of answers are most of it.
    if ranges and ranges["bytes"] >= 100_000:
        goal("ranges, metadata", ranges["metadata_bytes"] / ranges["bytes"], 0.1, "the whole download")
    for title, row, limit, idle in [("pull", ranges, 4, "that finds nothing new"), ("apply", delta, 8, "that has the new version")]:
        if row:
            goal(f"{title}, private memory", (row["apply"]["private_bytes"] - row["idle_private_bytes"]) / (1 << 20), limit,
                 f"MiB above a client {idle}")
    if delta:
        goal("apply, rate", new_bytes / 1e6 / delta["apply"]["s"], 450, "MB/s", True)
        goal("apply, rate compared with adding", ranges["ingest"]["s"] / delta["apply"]["s"], 0.8,
             "packstore, adding the new version to the old", True)
    for title, row in [("pull, written", ranges), ("apply, written", delta)]:
        # Below that, a few pages of bookkeeping are most of it.
        if row and (row["new_stored_bytes"] or 0) >= 1_000_000:
            goal(title, row["apply"]["written_bytes"] / row["new_stored_bytes"], 1.05, "new chunks as stored")
    for limit, row, title, figure in [("delta", delta, "bytes of the delta", "bytes"), ("ranges", ranges, "bytes by ranges", "bytes"),
                                     ("metadata", ranges, "metadata by ranges", "metadata_bytes")]:
        if row and limit in limits:
            goal(title, row[figure], limits[limit], "bytes")
    return goals


# MARK: - Report


def measure(run):
    arguments, begin = run.arguments, time.monotonic()
    wanted = [one for one in PARTICIPANTS
              if not arguments.tools or any(one.name.lower().startswith(name.strip().lower()) for name in arguments.tools)]
    if not wanted:
        raise UserError(f"unknown tools {', '.join(arguments.tools)}: use {', '.join(one.name for one in PARTICIPANTS)}")
    absences = [{"name": one.name, "reason": f"{one.missing_program()} is not installed"} for one in wanted if one.missing_program()]
    present = [one for one in wanted if not one.missing_program()]
    versions = tools.versions({one.programs[0]: one.version for one in present})
    chosen = arguments.synthetic or ([] if arguments.pair else list(pairs.KINDS))
    scale = pairs.Scale(arguments.size * 10**6, arguments.assets, arguments.quick)
    results, samples = [], []
    for pair in [*arguments.pair, *chosen]:
        folder = run.work / "pair"
        folder.mkdir()
        try:
            if isinstance(pair, str):
                progress(f"making: {pair}")
                pair = pairs.make(pair, scale, arguments.seed, folder)
            results.append(measure_pair(pair, present, folder, arguments.patience, run.notes, samples))
        except OSError as error:
            # A pair that cannot be measured does not end the run.
            absences.append({"name": getattr(pair, "name", pair), "reason": f"failed: {error.strerror}"})
            run.notes.has_failures = True
        finally:
            shutil.rmtree(folder)
    run.notes.add_disturbance("all commands", samples)
    return {"quick": arguments.quick, "patience": arguments.patience, "versions": versions, "absences": absences,
            "seconds": round(time.monotonic() - begin), "pairs": results}


def measure_pair(pair, participants, folder, patience, notes, samples):
    progress(pair.name)
    trial = Trial(pair, folder, patience)
    rows, absences = [], []
    for participant in participants:
        progress(f"  {participant.name}")
        trial.begin(participant.programs[0] + str(len(rows) + len(absences)))
        try:
            if participant.limit and trial.largest > participant.limit:
                raise Omission(f"not above {participant.limit / 1e6:.0f} MB: {participant.reason}")
            if shutil.disk_usage(folder).free < 6 * trial.largest:
                raise Omission(f"not enough free disk space: {6 * trial.largest / 1e6:.0f} MB needed")
            for row in participant.measure(trial):
                rows.append({"name": participant.name} | row)
                progress(f"    {rows[-1]['name']}: {row['bytes']:,} bytes")
        except (Omission, ToolFailure) as error:
            is_failure = isinstance(error, ToolFailure)
            absences.append({"name": participant.name, "reason": f"failed: {error}" if is_failure else str(error)})
            progress(f"    {absences[-1]['reason']}")
            # A peer's failure is only listed.
            notes.has_failures |= is_failure and participant.name == "packstore"
        shutil.rmtree(trial.workspace.root)
    samples += trial.samples
    old, new = (describe_folder(version) for version in [pair.old, pair.new])
    installs = [row for row in rows if row["key"].startswith("packstore-install-")]
    rows = [row for row in rows if row not in installs]
    return {"name": pair.name, "explanation": pair.explanation, "from": old, "to": new, "installs": installs, "rows": rows,
            "goals": goals_of(rows, new["bytes"], pair.limits), "absences": absences}
