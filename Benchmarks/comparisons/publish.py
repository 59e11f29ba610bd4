"""Measure publishing to a bucket, compared with publishing to a folder that rclone or aws s3 sync copies.

    Benchmarks/compare publish --json R.json                a site of 1 GB in 10,000 files, and one changed file of it, five times
    Benchmarks/compare publish --megabytes 20 --files 200   a smaller site
    Benchmarks/compare publish --trace T.json               also write when each request of a change began and ended

The server is `Tests/Storage/serve`, a substitute for S3 on this machine that checks signatures and checksums; the same one for
all programs, also with 30 ms added to each request. Three cases:

    new       an empty bucket
    change    one file of the site is new; the machine has the key and the store, and nothing of the site
    kept      the same change, on a machine with a work folder (--work) from the previous publication

`packstore` publishes a store to the bucket. `rclone` copies the files of a folder to which packstore published the same version,
with as many uploads at a time as packstore: all encoding is done before, and it has the whole site on disk. It compares files by
the times of the storage (which needs no request for each file), and copies the root with all other files, although the root
should be last. Besides uploading, packstore does the work of publishing to a folder; so the page compares packstore with folder
and rclone together. `aws s3 sync`, if the program `aws` is installed, copies the same folder with its default number of uploads;
it compares files by the lengths and times in its list of all files.

Half of the bytes of each file are incompressible. Each command begins on its own prefix of the server.
"""

import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import urllib.request

import tools
from corpora import make_half_random_folder
from measuring import (
    PACKAGE, UserError, Workspace, cpu_seconds, progress, rotated, run_measured, run_quietly,
)

OPTIONS = {
    "runs": 1, "seed": 1, "megabytes": (1000, "bytes of the folder, in 10^6"), "files": (10000, "files in the folder"),
    "changes": (5, "changes in each round, one after the other"),
}
BUCKET = "assets"
DELAYS = [0, 30]
# The credentials of Tests/Storage/serve.
CREDENTIALS = ("AKIDEXAMPLE", "not-a-secret")
# The files of a site that clients fetch, in the order in which they can be copied.
FOLDERS = ["segments", "frames", "changes", "versions", "deltas", "attributes", "roots"]


class Server:
    """A substitute for S3."""

    def __init__(self):
        python = PACKAGE / ".build/storage/bin/python"
        if not python.exists():
            raise UserError("missing moto: install it with 'Tests/Storage/setup .build/storage'")
        self.process = subprocess.Popen(
            [python, PACKAGE / "Tests/Storage/serve", BUCKET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()

    def control(self, **wanted):
        request = urllib.request.Request(self.url + "/_control", json.dumps(wanted).encode(), method="POST")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def trace(self):
        """The requests since the last call: began, ended, method, key, status, bytes received, bytes sent."""
        with urllib.request.urlopen(self.url + "/_trace") as answer:
            return json.load(answer)


def set_environment(url):
    key, secret = CREDENTIALS
    os.environ.pop("AWS_CA_BUNDLE", None)
    os.environ.update({
        "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "RCLONE_CONFIG": "/dev/null",
        "RCLONE_CONFIG_S_TYPE": "s3", "RCLONE_CONFIG_S_PROVIDER": "Other", "RCLONE_CONFIG_S_ENDPOINT": url,
        "RCLONE_CONFIG_S_ACCESS_KEY_ID": key, "RCLONE_CONFIG_S_SECRET_ACCESS_KEY": secret,
        "RCLONE_CONFIG_S_REGION": "us-east-1", "RCLONE_CONFIG_S_NO_CHECK_BUCKET": "true",
    })


class Bench:
    def __init__(self, run, server):
        self.work, self.server = run.work, server
        self.store, self.key, self.source = run.work / "Packs", run.work / "site.key", run.work / "source"
        self.count, self.rows, self.traces = 0, {}, []
        self.has_aws = shutil.which("aws") is not None

    def workspace(self):
        self.count += 1
        return Workspace(self.work / "runs" / str(self.count))

    def measure(self, command):
        """A Sample of one command, and the counts of the server."""
        before, computed = self.server.control(), cpu_seconds(self.server.process.pid)
        sample = run_measured([command], self.workspace(), self.work, is_watched=True)
        # The server's processor time is excluded: the server only performs the requests of the command.
        sample.other_cpu_s = max(0.0, sample.other_cpu_s - (cpu_seconds(self.server.process.pid) - computed))
        after = self.server.control()
        return sample, {name: after[name] - before[name] for name in ["requests", "sent", "received"]}

    def publish(self, site, *options):
        return tools.command("packstore publish {store} {site} --key {key} --deltas 0 -q", *options,
                             store=self.store, site=site, key=self.key)

    def sync(self, folder, prefix):
        filters = [word for name in FOLDERS for word in ("--include", f"{name}/*")]
        return tools.command("aws s3 sync {folder} s3://{target} --only-show-errors --exclude *", *filters, "--include", "root",
                             folder=folder, target=f"{BUCKET}/{prefix}")

    def copy(self, folder, prefix):
        filters = [word for name in FOLDERS for word in ("--include", f"/{name}/**")]
        return tools.command("rclone copy {folder} s:{target} --transfers 16 --checkers 16 --update --use-server-modtime", *filters,
                             "--include", "/root", folder=folder, target=f"{BUCKET}/{prefix}")

    def add(self):
        run_quietly(tools.command("packstore keygen {key} -q", key=self.key), self.workspace())
        run_quietly(tools.command("packstore add {store} {source} --pack P -q", store=self.store, source=self.source),
                    self.workspace())

    def run(self, number, delay, change_count):
        """Measures one round of all cases with a delay, into the rows: {(delay, case, tool): [(sample, traffic)]}."""
        for path in [self.store, self.work / "site", self.work / "kept"]:
            shutil.rmtree(path, ignore_errors=True)
        prefix, site = f"r{number}-{delay}", self.work / "site"
        changed = self.source / "000/00007"
        for change in range(change_count + 1):
            case = "change" if change else "new"
            if change:
                seed = (number * 100 + delay) * 100 + change
                changed.write_bytes(random.Random(seed).randbytes(changed.stat().st_size))
            self.add()
            self.server.control(delay_ms=0)
            self.note(delay, case, "folder", self.measure(self.publish(site)))
            self.server.control(delay_ms=delay)
            commands = {
                "packstore": self.publish(f"s3://{BUCKET}/{prefix}-p"),
                "kept": self.publish(f"s3://{BUCKET}/{prefix}-k", "--work", self.work / "kept"),
                "rclone": self.copy(site, f"{prefix}-r"),
            }
            if self.has_aws:
                commands["aws"] = self.sync(site, f"{prefix}-a")
            for tool in rotated(list(commands), number + change):
                self.server.trace()
                self.note(delay, case, tool, self.measure(commands[tool]))
                self.traces.append({"case": case, "delay_ms": delay, "tool": tool, "requests": self.server.trace()})

    def note(self, delay, case, tool, result):
        self.rows.setdefault((delay, case, tool), []).append(result)

    def results(self, delay, case, tool):
        """The results for a row of the page. The case `kept` is the change by the command with a work folder."""
        return self.rows[delay, "change" if case == "kept" else case, "kept" if (case, tool) == ("kept", "packstore") else tool]


def add_options(add):
    add("--trace", metavar="FILE", help="write when each request began and ended")


def measure(run):
    if shutil.which("rclone") is None:
        raise UserError("missing program 'rclone': install it")
    arguments, server = run.arguments, Server()
    try:
        set_environment(server.url)
        bench = Bench(run, server)
        make_half_random_folder(bench.source, arguments.megabytes * 10**6, arguments.files, arguments.seed)
        tools.note_missing([] if bench.has_aws else ["aws"], run.notes)
        for number in range(arguments.runs):
            for delay in DELAYS:
                progress(f"round {number + 1} of {arguments.runs}, {delay} ms added")
                bench.run(number, delay, arguments.changes)
    finally:
        server.end()
    if arguments.trace:
        pathlib.Path(arguments.trace).write_text(json.dumps(bench.traces, indent=1))
    # One note for all: commands take turns, so that other processes disturb all of them, or none.
    run.notes.add_disturbance("all commands", [sample for results in bench.rows.values() for sample, _ in results])
    versions = {"packstore": "--version", "rclone": "version"} | ({"aws": "--version"} if bench.has_aws else {})
    return {
        "changes": arguments.changes,
        "files": arguments.files,
        "bytes": arguments.megabytes * 10**6,
        "versions": tools.versions(versions),
        "rows": [{"case": case, "delay_ms": delay} | {
            tool: row_of(bench.results(delay, case, tool)) for tool in ["packstore", "folder", *list(versions)[1:]]}
            for delay in DELAYS for case in ["new", "change", "kept"]],
    }


def row_of(results):
    def middle(name):
        return statistics.median(traffic[name] for _, traffic in results)

    return {
        "seconds": [sample.wall_s for sample, _ in results],
        "peak_bytes": max(sample.peak_rss_bytes for sample, _ in results),
        "private_bytes": max(sample.private_peak_bytes for sample, _ in results),
        "requests": middle("requests"), "down_bytes": middle("sent"), "up_bytes": middle("received"),
    }
