"""The compared programs: how each stores a version of a folder, and how it drops old versions and frees their space.

A tool is an entry: templates of its commands, in which `{out}` is the folder that is counted, `{folder}` the folder to store,
and `{version}` its number.
"""

import dataclasses
import os
import re
import shutil
import subprocess

from measuring import PROCESSORS, UserError, run_quietly

# The path of each program that is not found by its name; the driver sets that of packstore.
PATHS = {}


def command(template, *more, **values):
    """The words of a command. A value can contain spaces."""
    program, *words = template.split()
    return [PATHS.get(program, program), *(word.format(**values) for word in words), *map(str, more)]


def add(workspace, folder, *options):
    """Adds `folder` as the next version to the store of `workspace`."""
    return command("packstore add {out}/store {folder} --pack P --quiet", *options, out=workspace.out, folder=folder)


@dataclasses.dataclass
class Tool:
    """One way to store a folder.

    `key` names the row in the JSON and never changes, `title` names it in the table, `typed` is the command as a reader would
    type it, and `storing` the commands of a pipe. A tool that `keeps_versions` can store a second version of a folder in the
    same workspace, and then stores only new data. `dropping` is how a reader would drop versions; `drops` returns the commands.
    """

    key: str
    title: str
    typed: str
    storing: list
    prepares: str = ""
    dropping: str = ""
    drops: object = None
    version_argument: str = "--version"
    is_peer: bool = True
    keeps_versions: bool = False

    @property
    def programs(self):
        return [template.split()[0] for template in self.storing]

    def missing_program(self):
        return next((name for name in self.programs if not shutil.which(PATHS.get(name, name))), None)

    def prepare(self, workspace):
        """Creates a repository if the tool needs one. Not measured."""
        if self.prepares:
            run_quietly(command(self.prepares, out=workspace.out), workspace)

    def stages(self, workspace, folder, version):
        """The commands of the pipe that stores version 1, 2, … of `folder`."""
        return [command(template, out=workspace.out, folder=folder, version=version) for template in self.storing]

    def drop(self, workspace, dropped, kept):
        """The commands, one after another, that drop the versions `dropped` and free the space that `kept` does not need."""
        return self.drops(workspace.out, dropped, kept)


def packstore(key, *options, keeps_versions=True):
    words = " ".join(["--pack P --quiet", *options])
    return Tool(key, " ".join(["packstore", *options]), f"packstore add STORE FOLDER {words}",
                ["packstore add {out}/store {folder} " + words], is_peer=False, keeps_versions=keeps_versions)


def restic(compression):
    return Tool(
        f"restic-{compression}", f"restic, compression {compression}", f"restic backup --compression {compression} .",
        ["restic -r {out}/repository backup --quiet --compression " + compression + " ."],
        prepares="restic -r {out}/repository init", dropping="restic forget --keep-last KEPT --prune",
        drops=lambda out, dropped, kept: [
            command("restic -r {out}/repository forget --quiet --keep-last {count} --prune", out=out, count=len(kept))],
        version_argument="version", keeps_versions=True)


def borg(level):
    return Tool(
        f"borg-zstd-{level}", f"borg, zstd {level}", f"borg create --compression zstd,{level} REPOSITORY::VERSION .",
        ["borg create --compression zstd," + str(level) + " {out}/repository::{version} ."],
        prepares="borg init -e none {out}/repository", dropping="borg delete REPOSITORY VERSION..., borg compact REPOSITORY",
        drops=lambda out, dropped, kept: [
            command("borg delete {out}/repository", *dropped, out=out), command("borg compact {out}/repository", out=out)],
        keeps_versions=True)


CASYNC = Tool(
    "casync-zstd", "casync make, zstd", "casync make --compression=zstd --store=STORE INDEX FOLDER",
    ["casync make --compression=zstd --store={out}/store.castr {out}/{version}.caidx {folder}"],
    dropping="rm INDEX..., casync gc --store=STORE INDEX...",
    drops=lambda out, dropped, kept: [
        command("rm", *(out / f"{version}.caidx" for version in dropped)),
        command("casync gc --store={out}/store.castr", *(out / f"{version}.caidx" for version in kept), out=out)],
    keeps_versions=True)
# Keeps whole files, compressed with zlib, each content once.
OSTREE = Tool(
    "ostree-archive", "ostree, archive", "ostree commit --repo=REPOSITORY --branch=main --tree=dir=FOLDER",
    ["ostree --repo={out}/repository commit --branch=main --subject={version} --tree=dir={folder}"],
    prepares="ostree --repo={out}/repository init --mode=archive",
    dropping="ostree prune --repo=REPOSITORY --refs-only --depth=KEPT-1",
    drops=lambda out, dropped, kept: [
        command("ostree --repo={out}/repository prune --refs-only --depth={depth}", out=out, depth=len(kept) - 1)],
    keeps_versions=True)
SQUASHFS = Tool(
    "mksquashfs-zstd-3", "mksquashfs, zstd 3", "mksquashfs FOLDER OUT -comp zstd -Xcompression-level 3 -no-xattrs -quiet -no-progress",
    ["mksquashfs {folder} {out}/image -comp zstd -Xcompression-level 3 -no-xattrs -quiet -no-progress"], version_argument="-version")
# -T0 would count cores, and leave half of the processors idle if each core runs two threads.
TAR_ZSTD = Tool(
    "tar-zstd-3", f"tar, zstd -3 -T{PROCESSORS}", f"tar -cf - FOLDER | zstd -3 -T{PROCESSORS} -o OUT",
    ["tar -C {folder} -cf - .", f"zstd -3 -T{PROCESSORS} -q -o {{out}}/archive.tar.zst"])
LONGTAIL = Tool(
    "longtail-zstd", "longtail upsync, zstd",
    "longtail upsync --source-path FOLDER --target-path INDEX --storage-uri STORE --compression-algorithm zstd",
    ["longtail upsync --source-path {folder} --target-path {out}/{version}.lvi --storage-uri {out}/store --compression-algorithm zstd"],
    version_argument="version", keeps_versions=True)


def choose(tools, only, notes):
    """The installed ones of the requested tools. A note names the missing ones."""
    if unknown := set(only) - {tool.key for tool in tools}:
        raise UserError(f"unknown tool {', '.join(sorted(unknown))}: use {', '.join(tool.key for tool in tools)}")
    requested = [tool for tool in tools if not only or tool.key in only]
    chosen = [tool for tool in requested if tool.missing_program() is None]
    note_missing([tool.key for tool in requested if tool not in chosen], notes)
    if not chosen:
        raise UserError("none of the tools is installed")
    return chosen


def note_missing(names, notes):
    if names:
        notes.add(f"Left out because the program is not installed: {', '.join(f'`{name}`' for name in names)}.")


def versions(programs):
    """Program -> version. `programs` has the argument that prints it. The call also loads the program into the page cache."""
    found = {}
    for name, argument in programs.items():
        answer = subprocess.run([PATHS.get(name, name), argument], capture_output=True, check=False)
        first_line = (answer.stdout or answer.stderr).decode(errors="replace").partition("\n")[0]
        number = re.search(r"\d+(\.\d+)+", first_line) or re.search(r"\d+", first_line)
        found[os.path.basename(name)] = number.group() if number else "unknown"
    return found


def tool_versions(tools):
    return versions({name: tool.version_argument if name == tool.programs[-1] else "--version"
                     for tool in tools for name in tool.programs})
