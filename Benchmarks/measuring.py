"""What the scripts that measure programs share: how a program is run and what it used, what is said of the machine, and
how a script reports.

The programs run in workspaces below one temporary folder. Before each measurement os.sync() drains what earlier ones left
to write.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
PROCESSORS = len(os.sched_getaffinity(0))
COPY_BYTES = 1 << 20


class ToolFailure(Exception):
    """A tool returned a status other than 0. The text is the last line it wrote."""


class UserError(Exception):
    """Something the caller asked for cannot be done. The text says what and why."""


# MARK: - Measuring


@dataclasses.dataclass
class Sample:
    """One measured call of one tool, with all its processes.

    `read_bytes` is what its calls read, from the page cache or not; what it mapped is not in it. `written_bytes` is what it
    made the system write to disks, in whole pages.
    """

    wall_s: float
    wall_synced_s: float
    cpu_s: float
    peak_rss_bytes: int
    other_cpu_s: float
    read_bytes: int = 0
    written_bytes: int = 0
    size_bytes: int = 0
    allocated_bytes: int = 0

    @property
    def is_disturbed(self):
        """Whether other processes had more than a tenth of the processors meanwhile."""
        return self.other_cpu_s > 0.1 * self.wall_s * PROCESSORS


@dataclasses.dataclass
class Workspace:
    """The folders of one tool: what is counted, what is not, and what the tool said."""

    root: pathlib.Path

    def __post_init__(self):
        self.out = self.root / "out"
        self.scratch = self.root / "scratch"
        self.log = self.root / "log"
        self.out.mkdir(parents=True)
        self.scratch.mkdir()

    @property
    def environment(self):
        """Variables that keep a tool's caches and settings away from the user's own."""
        scratch = str(self.scratch)
        return os.environ | {
            "HOME": scratch,
            "XDG_CACHE_HOME": scratch,
            "XDG_CONFIG_HOME": scratch,
            "RESTIC_PASSWORD": "benchmark",
            "RESTIC_CACHE_DIR": scratch,
            "BORG_BASE_DIR": scratch,
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        }

    def remove(self):
        shutil.rmtree(self.root)


def run_measured(stages, workspace, folder, memory_floor=0, watch=lambda process: None):
    """Run the commands `stages` as a pipe in `folder` and return a Sample without sizes. `generation_watch` is called with the last process.

    A process inherits the peak memory of the one that started it, so no peak below that of this
    interpreter can be seen. A stage of a pipe that stays below `memory_floor` counts as nothing.
    """
    os.sync()
    with open(workspace.log, "wb") as log:
        busy_before, transferred_before = machine_cpu_seconds(), transferred_bytes()
        begin = time.perf_counter()
        processes = start_pipe(stages, workspace, folder, log)
        watch(processes[-1])
        usages = [wait_for(process) for process in processes]
        wall = time.perf_counter() - begin
        busy = machine_cpu_seconds() - busy_before
        read, written = (after - before for after, before in zip(transferred_bytes(), transferred_before))
        failed = [process for process in processes if process.returncode != 0]
        if failed:
            raise ToolFailure(describe_failure(failed[0], workspace))
        os.sync()
        wall_synced = time.perf_counter() - begin

    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    peaks = [usage.ru_maxrss * 1024 for usage in usages]
    return Sample(
        wall_s=wall,
        wall_synced_s=wall_synced,
        cpu_s=cpu,
        peak_rss_bytes=sum(peak for peak in peaks if peak > memory_floor) or max(peaks),
        other_cpu_s=max(0.0, busy - cpu),
        read_bytes=read,
        written_bytes=written,
    )


def transferred_bytes():
    """(bytes read by calls, bytes written to disks) of this process and all that it waited for.

    A process hands its sums to the one that waits for it, so the difference around a child is the child's, with its children.
    """
    with open("/proc/self/io", encoding="ascii") as file:
        counts = dict(line.split(": ") for line in file)
    return int(counts["rchar"]), int(counts["write_bytes"])


def machine_cpu_seconds():
    """Seconds for which the machine's processors were busy, or taken by a host, since it started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, *interrupts_and_steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + sum(interrupts_and_steal)) / os.sysconf("SC_CLK_TCK")


def start_pipe(stages, workspace, folder, log):
    processes = []
    source = subprocess.DEVNULL
    for number, command in enumerate(stages):
        is_last = number == len(stages) - 1
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=workspace.environment,
            stdin=source,
            stdout=log if is_last else subprocess.PIPE,
            stderr=log,
        )
        if source is not subprocess.DEVNULL:
            source.close()
        source = process.stdout
        processes.append(process)
    return processes


def wait_for(process):
    """Wait until `process` has ended and return what it used."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def describe_failure(process, workspace):
    lines = workspace.log.read_text(errors="replace").strip().splitlines()
    said = lines[-1].replace(str(workspace.root), "WORK") if lines else "no message"
    return f"exit status {process.returncode}: {said}"


def measure_memory_floor(folder):
    """The peak memory that even a process which does nothing seems to have."""
    workspace = Workspace(folder / "floor")
    sample = run_measured([["true"]], workspace, folder)
    workspace.remove()
    return sample.peak_rss_bytes


def files_below(folder):
    """Every regular file below `folder`, in an order that does not depend on the disk."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def tree_sizes(folder):
    """(bytes of the files, bytes allocated for files and folders) below `folder`."""
    size = allocated = 0
    for parent, _, names in os.walk(folder):
        allocated += os.lstat(parent).st_blocks * 512
        for name in names:
            status = os.lstat(os.path.join(parent, name))
            size += status.st_size
            allocated += status.st_blocks * 512
    return size, allocated


def read_once(folder):
    """Bring every file below `folder` into the page cache."""
    for path in files_below(folder):
        with open(path, "rb", buffering=0) as file:
            while file.read(COPY_BYTES):
                pass


# MARK: - Tools


class Tool:
    """One way to store a folder. Subclasses say how.

    `key` names the row in the JSON and never changes, `title` names it in the table. `command` is
    what a reader would type. A tool that `keeps_versions` can take a second version of a folder
    into the same workspace and store only what is new.
    """

    key = title = command = program = ""
    version_arguments = ["--version"]
    is_peer = True
    keeps_versions = False

    @property
    def programs(self):
        return [self.program]

    def missing_program(self):
        return next((name for name in self.programs if not shutil.which(name)), None)

    def prepare(self, workspace):
        """Create what the tool needs before it can take in a folder. Not measured."""

    def stages(self, workspace, folder, version):
        """The commands, joined by pipes, that store version 1, 2, ... of `folder`."""
        raise NotImplementedError


def run_quietly(command, workspace):
    with open(workspace.log, "wb") as log:
        process = subprocess.run(
            command,
            env=workspace.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    if process.returncode != 0:
        raise ToolFailure(describe_failure(process, workspace))


@dataclasses.dataclass
class Notes:
    """What a reader of the figures must know, and whether a tool failed."""

    lines: list = dataclasses.field(default_factory=list)
    has_failures: bool = False

    def add(self, line):
        self.lines.append(line)

    def add_failure(self, tool, corpus_name, failure):
        self.has_failures = True
        self.add(f"`{tool.key}` failed on {corpus_name}: {failure}")
        progress(f"{corpus_name} {tool.key} FAILED: {failure}")


def choose_tools(tools, only, notes):
    """The tools that were asked for and are there. What is not there gets a note."""
    unknown = set(only) - {tool.key for tool in tools}
    if unknown:
        known = ", ".join(tool.key for tool in tools)
        raise UserError(f"no such tool: {', '.join(sorted(unknown))}; there are {known}")
    asked = [tool for tool in tools if not only or tool.key in only]
    chosen = [tool for tool in asked if tool.missing_program() is None]
    missing = [f"`{tool.key}`" for tool in asked if tool not in chosen]
    if missing:
        notes.add(f"Left out because the program is not there: {', '.join(missing)}.")
    if not chosen:
        raise UserError("none of the tools is installed")
    return chosen


# MARK: - Turns


def rotated(items, count):
    """A copy of `items` that begins `count` places further on."""
    if not items:
        return []
    count %= len(items)
    return items[count:] + items[:count]


def note_disturbance(what, samples, notes):
    disturbed = [each for each in samples if each.is_disturbed]
    if disturbed:
        notes.add(
            f"Other processes were busy during {len(disturbed)} of {len(samples)} measurements "
            f"of {what}: read its times with care."
        )


# MARK: - Report


def describe_machine(work):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        system = platform.system()
    return {
        "cpu": models[0] if models else platform.machine(),
        "processors": PROCESSORS,
        "memory_gb": round(memory / 1e9),
        "file_system": file_system_of(work),
        "system": system,
        "kernel": ".".join(re.findall(r"\d+", platform.release())[:2]),
    }


def file_system_of(path):
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split()[1:3] for line in file]
    holding = [(point, kind) for point, kind in mounts if pathlib.Path(point) in [path, *path.parents]]
    return max(holding, key=lambda mount: len(mount[0]))[1] if holding else "unknown"


def tool_versions(tools):
    """Program -> version. Asking also loads each program into the page cache."""
    versions = {}
    for tool in tools:
        for program in tool.programs:
            name = os.path.basename(program)
            if name in versions:
                continue
            arguments = tool.version_arguments if program == tool.program else ["--version"]
            answer = subprocess.run([program, *arguments], capture_output=True, check=False)
            first_line = (answer.stdout or answer.stderr).decode(errors="replace").partition("\n")[0]
            found = re.search(r"\d+(\.\d+)+", first_line) or re.search(r"\d+", first_line)
            versions[name] = found.group() if found else "unknown"
    return versions


def markdown(report):
    """The page that Benchmarks/Results has of it."""
    page = runpy.run_path(str(PACKAGE / "Benchmarks" / "summarize"))["page"]
    return "\n".join(page(report["benchmark"], report)) + "\n"


def progress(text):
    print(text, file=sys.stderr, flush=True)


def write_file(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_report_options(add, packstore_default=PACKAGE / ".build/release/packstore"):
    """Options that every script has, added by `add`, a parser's add_argument."""
    add(
        "--packstore",
        type=pathlib.Path,
        default=packstore_default,
        metavar="FILE",
        help="the executable to measure (default .build/release/packstore of this package)",
    )
    add("--tools", default="", metavar="A,B", help="only these tools, by the names the JSON gives them")
    add("--output", metavar="FILE.md", help="where the Markdown goes (default: standard output)")
    add("--json", metavar="FILE", help="where all figures go as JSON")
    add("--work", default="/var/tmp", metavar="FOLDER", help="a folder on disk for temporary files (default /var/tmp)")


def report_and_exit(script, arguments, make_report):
    """Write what `make_report(arguments, work)` returns, a report and whether a tool failed, and exit."""
    # Ends like Ctrl-C, so that a run that is called off leaves no temporary files either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{script}-", dir=arguments.work) as work:
            report, has_failures = make_report(arguments, pathlib.Path(work).resolve())
    except UserError as error:
        sys.exit(f"{script}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    if arguments.json:
        write_file(arguments.json, json.dumps(report, indent=2) + "\n")
    if arguments.output:
        write_file(arguments.output, markdown(report))
    else:
        print(markdown(report), end="")
    sys.exit(1 if has_failures else 0)


def parser_of(documentation):
    """A parser that explains a script by its documentation, the first line as its summary."""
    introduction, _, rest = documentation.partition("\n")
    return argparse.ArgumentParser(
        description=introduction, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
