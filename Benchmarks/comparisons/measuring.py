"""Measurement of programs: how one is run in a workspace, its resource usage, and the machine."""

import dataclasses
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
PROCESSORS = len(os.sched_getaffinity(0))
COPY_BYTES = 1 << 20
WATCH_SECONDS = 0.002


class ToolFailure(Exception):
    """A tool returned a status other than 0. The text is the last line it wrote."""


class Omission(Exception):
    """A tool cannot take part. The text is the reason."""


class UserError(Exception):
    """A request that cannot be carried out. The text is the error with its remedy."""


# MARK: - Measuring


@dataclasses.dataclass
class Sample:
    """One measured run of one tool, with all its processes.

    `read_bytes` are the bytes that its calls read, from the page cache or not, without mapped files. `written_bytes` are the
    bytes it made the system write to disks, in whole pages; `cancelled_bytes` are those whose file was deleted before that.
    `private_peak_bytes` is measured only with a memory watch.
    """

    wall_s: float
    wall_synced_s: float
    cpu_s: float
    peak_rss_bytes: int
    other_cpu_s: float
    read_bytes: int = 0
    written_bytes: int = 0
    cancelled_bytes: int = 0
    private_peak_bytes: int = 0
    size_bytes: int = 0
    allocated_bytes: int = 0

    @property
    def is_disturbed(self):
        """Whether other processes used more than a tenth of the processors at the same time."""
        return self.other_cpu_s > 0.1 * self.wall_s * PROCESSORS


def median(samples, name):
    """The median of one figure, rounded: bytes to whole ones, seconds to milliseconds."""
    middle = statistics.median(getattr(sample, name) for sample in samples)
    return round(middle) if name.endswith("_bytes") else round(middle, 3)


def medians(samples, *names):
    return {name: median(samples, name) for name in names}


def series(samples, *names):
    """The figures of all samples, for the JSON."""
    return {name: [round(getattr(sample, name), 3) for sample in samples] for name in names}


def undisturbed(retries, title, measure):
    """Calls `measure` again, up to `retries` times, while other processes disturb it. The last sample counts."""
    for _ in range(retries):
        sample = measure()
        if not sample.is_disturbed:
            return sample
        progress(f"{title}: disturbed, measuring again")
    return measure()


class MemoryWatch:
    """The peak of a process's private memory that no file backs, sampled every few milliseconds."""

    def __init__(self, process):
        self.peak_bytes = 0
        self.thread = threading.Thread(target=self._watch, args=[f"/proc/{process.pid}/status"])
        self.thread.start()

    def peak(self):
        """The peak in bytes, after the process has ended."""
        self.thread.join()
        return self.peak_bytes

    def _watch(self, path):
        while (now := self._anonymous_bytes(path)) is not None:
            self.peak_bytes = max(self.peak_bytes, now)
            time.sleep(WATCH_SECONDS)

    @staticmethod
    def _anonymous_bytes(path):
        """`None` if the process has ended."""
        try:
            with open(path, encoding="ascii") as file:
                return next((int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon:")), None)
        except OSError:
            return None


@dataclasses.dataclass
class Workspace:
    """The folders of one tool, the counted one and the others, and its output."""

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
        return os.environ | {"LC_ALL": "C", "RESTIC_PASSWORD": "benchmark", "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"} | {
            name: scratch for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "RESTIC_CACHE_DIR", "BORG_BASE_DIR"]}

    def remove(self):
        shutil.rmtree(self.root)


def run_measured(stages, workspace, folder, memory_floor=0, is_watched=False, limit=None):
    """Runs the commands `stages` as a pipe in `folder` and returns a Sample without sizes.

    A process inherits the peak memory of the process that started it, so a peak below the one of this interpreter cannot be
    measured. A stage of a pipe that stays below `memory_floor` counts as nothing. After `limit` seconds the processes are killed.
    """
    os.sync()
    with open(workspace.log, "wb") as log:
        busy_before, transferred_before = machine_cpu_seconds(), transferred_bytes()
        begin = time.perf_counter()
        processes = start_pipe(stages, workspace, folder, log)
        watch = MemoryWatch(processes[-1]) if is_watched else None
        timer = threading.Timer(limit or 0, lambda: [process.kill() for process in processes])
        if limit:
            timer.start()
        usages = [wait_for(process) for process in processes]
        wall = time.perf_counter() - begin
        timer.cancel()
        busy = machine_cpu_seconds() - busy_before
        transferred = [after - before for after, before in zip(transferred_bytes(), transferred_before)]
        peak = watch.peak() if watch else 0
        if limit and wall >= limit:
            raise Omission(f"not done within {limit:.0f} s")
        failed = [process for process in processes if process.returncode != 0]
        if failed:
            raise ToolFailure(describe_failure(failed[0], workspace))
        os.sync()
        wall_synced = time.perf_counter() - begin
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    peaks = [usage.ru_maxrss * 1024 for usage in usages]
    return Sample(wall, wall_synced, cpu, sum(peak for peak in peaks if peak > memory_floor) or max(peaks), max(0.0, busy - cpu),
                  *transferred, private_peak_bytes=peak)


def transferred_bytes():
    """The bytes read by calls, written to disks, and not written, of this process and all its ended children.

    The system adds the counts of a process to its parent, so a difference around a child is the child's, with its children.
    """
    with open("/proc/self/io", encoding="ascii") as file:
        counts = dict(line.split(": ") for line in file)
    return [int(counts[name]) for name in ["rchar", "write_bytes", "cancelled_write_bytes"]]


def machine_cpu_seconds():
    """Seconds for which the machine's processors were busy, or used by a host, since it started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, *interrupts_and_steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + sum(interrupts_and_steal)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """The processor time of all threads of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_pipe(stages, workspace, folder, log):
    processes = []
    source = subprocess.DEVNULL
    for number, words in enumerate(stages):
        target = log if number == len(stages) - 1 else subprocess.PIPE
        process = subprocess.Popen(words, cwd=folder, env=workspace.environment, stdin=source, stdout=target, stderr=log)
        if source is not subprocess.DEVNULL:
            source.close()
        source = process.stdout
        processes.append(process)
    return processes


def wait_for(process):
    """Waits until `process` has ended and returns its resource usage."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def describe_failure(process, workspace):
    lines = workspace.log.read_text(errors="replace").strip().splitlines()
    complaint = lines[-1].replace(str(workspace.root), "WORK") if lines else "no message"
    return f"exit status {process.returncode}: {complaint}"


def run_quietly(words, workspace):
    """Runs a command without measuring it."""
    with open(workspace.log, "wb") as log:
        process = subprocess.run([str(word) for word in words], env=workspace.environment, stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=log, check=False)
    if process.returncode != 0:
        raise ToolFailure(describe_failure(process, workspace))


def measure_memory_floor(folder):
    """The peak memory that even a process without any work has."""
    workspace = Workspace(folder / "floor")
    sample = run_measured([["true"]], workspace, folder)
    workspace.remove()
    return sample.peak_rss_bytes


# MARK: - Files


def files_below(folder):
    """Every regular file below `folder`, in an order that does not depend on the disk."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def describe_folder(folder):
    sizes = [os.path.getsize(path) for path in files_below(folder)]
    return {"files": len(sizes), "bytes": sum(sizes)}


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


class FolderState:
    """The files below a folder at one moment. A missing folder has none."""

    def __init__(self, folder):
        self.files = {path: (status.st_ino, status.st_size, status.st_blocks * 512, status.st_mtime_ns)
                      for path in files_below(folder) for status in [os.stat(path)]}

    @property
    def size_bytes(self):
        return sum(size for _, size, _, _ in self.files.values())

    @property
    def allocated_bytes(self):
        return sum(allocated for _, _, allocated, _ in self.files.values())

    def written_since(self, earlier):
        """The bytes of all files that are new or have changed."""
        return sum(state[1] for path, state in self.files.items() if earlier.files.get(path) != state)


def read_once(folder):
    """Reads every file below `folder` into the page cache."""
    for path in files_below(folder):
        with open(path, "rb", buffering=0) as file:
            while file.read(COPY_BYTES):
                pass


def write_file(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# MARK: - Turns and notes


def rotated(items, count):
    """A copy of `items` that begins `count` places further on."""
    if not items:
        return []
    count %= len(items)
    return items[count:] + items[:count]


@dataclasses.dataclass
class Notes:
    """Facts that readers of the figures need, and whether a tool failed."""

    lines: list = dataclasses.field(default_factory=list)
    has_failures: bool = False

    def add(self, line):
        self.lines.append(line)

    def add_failure(self, key, corpus_name, failure):
        self.has_failures = True
        self.add(f"`{key}` failed on {corpus_name}: {failure}")
        progress(f"{corpus_name} {key} FAILED: {failure}")

    def add_disturbance(self, subject, samples):
        disturbed = sum(sample.is_disturbed for sample in samples)
        if disturbed:
            self.add(f"Other processes were busy during {disturbed} of {len(samples)} measurements of {subject}: read its times "
                     "with care.")


def progress(text):
    print(text, file=sys.stderr, flush=True)


# MARK: - Machine


def describe_machine(work):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    models = re.findall(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    features = re.findall(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    has_sha = bool(features) and not {"sha_ni", "sha2"}.isdisjoint(features[0].split())
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        system = platform.system()
    return {
        "cpu": f"{models[0] if models else platform.machine()} {'with' if has_sha else 'without'} SHA instructions",
        "processors": PROCESSORS,
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9),
        "file_system": file_system_of(work),
        "system": system,
        "kernel": ".".join(re.findall(r"\d+", platform.release())[:2]),
    }


def file_system_of(path):
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split()[1:3] for line in file]
    holding = [(point, kind) for point, kind in mounts if pathlib.Path(point) in [path, *path.parents]]
    return max(holding, key=lambda mount: len(mount[0]))[1] if holding else "unknown"


if __name__ == "__main__":
    machine = describe_machine(pathlib.Path.cwd())
    print(f"{machine['cpu']}, {machine['processors']} processors, {machine['memory_gb']} GB, {machine['system']}")
