"""Measure `packstore serve`, compared with nginx with the same files.

    Benchmarks/compare serve --json R.json                  all cases, within 10 minutes
    Benchmarks/compare serve --seconds 1 --runs 1           sooner, and less reliable

Both serve the same archives, which `packstore package` made of random bytes, from the page cache, with the same certificate, by
TLS 1.3 with the only cipher that clients offer. The server runs on one processor and the client on another (taskset); nginx has
one worker. Cases:

    packs      whole archives of 16 MiB and of 64 MiB
    ranges     1 MiB and 64 KiB of archives of 16 MiB. wrk chooses a range for each request; h2load sends the same fields with all
               requests of a run, so there is one range for each run, and the requests go to eight archives in turn

each by three clients, with 16 connections:

    wrk            HTTP/1.1
    h2load --h1    HTTP/1.1
    h2load         HTTP/2, four streams in each connection

The figures are medians of the runs: bytes a second that the client received; the server's seconds of processor time for each 10^9
bytes, which are more reliable than the first figure if clients are the limit or other processes are busy; and how busy client and
server were. In addition, for servers that have just started: the private memory (Private_Clean and Private_Dirty of smaps_rollup)
while 160 clients fetch an archive of 64 MiB and read 4 KiB a second each, by HTTP/1.1 and by HTTP/2.

At the beginning each server must answer a request for a range with the bytes of the file.
"""

import dataclasses
import http.client
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import time

import tools
from measuring import (
    PROCESSORS, Sample, ToolFailure, UserError, Workspace, cpu_seconds, machine_cpu_seconds, progress, rotated, run_quietly,
)

MIB = 1 << 20
CIPHER = "TLS_AES_128_GCM_SHA256"
CONNECTIONS, STREAMS = 16, 4
# Processors of the servers and of the clients.
SERVER_PLACE, CLIENT_PLACE = (lambda places: (places[0], places[-1]))(sorted(os.sched_getaffinity(0)))
# Names of archives -> bytes of their content.
PACKS = {f"P{number}": 16 * MIB for number in range(8)} | {"L0": 64 * MIB, "L1": 64 * MIB}
# Number of slow clients, how long they are watched, and how often each reads so many bytes.
# The server accepts 192 connections from one address.
SLOW_CLIENTS, WATCH_SECONDS, TICK_SECONDS, TICK_BYTES = 160, 8, 0.25, 1024
START_SECONDS = 60
FIGURES = ["bytes_per_s", "server_cpu_s_per_gb", "server_busy", "client_busy"]


@dataclasses.dataclass
class Case:
    """The requests of clients: whole packs, or ranges of them."""

    key: str
    packs: list
    range_bytes: int = 0

    def range_at_random(self, chance):
        """The value of a field; `None` for whole packs."""
        if not self.range_bytes:
            return None
        first = chance.randrange(min(PACKS[name] for name in self.packs) - self.range_bytes)
        return f"bytes={first}-{first + self.range_bytes - 1}"


SMALL, LARGE = ([name for name in PACKS if name[0] == letter] for letter in "PL")
CASES = [Case("packs-64m", LARGE), Case("packs-16m", SMALL), Case("ranges-1m", SMALL, MIB), Case("ranges-64k", SMALL, 64 << 10)]


OPTIONS = {
    "tools": [], "runs": 5, "seed": 1, "seconds": (3, "duration of each measurement"),
    "cases": ([case.key for case in CASES], "use only these cases"),
}


def goal_of(case, client):
    """The goal, as a part of nginx's throughput."""
    return 0.4 if client.protocol == "HTTP/2" or case.key == "ranges-64k" else 0.7


# MARK: - Servers


def private_bytes(pid):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(kilobytes) << 10 for kilobytes in re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+) kB", rollup, re.MULTILINE))


class Server:
    """A server that runs on its processor. Subclasses have the command that starts it."""

    key = ""

    def __init__(self, command, log):
        self.log = log
        with open(log, "wb") as file:
            self.process = subprocess.Popen(["taskset", "-c", str(SERVER_PLACE), *map(str, command)], stdin=subprocess.DEVNULL,
                                            stdout=file, stderr=file)
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.end()
                raise UserError(f"{self.key} does not start: {log.read_text(errors='replace').strip()}")
            time.sleep(0.05)

    def is_ready(self):
        """Whether it answers; then `port` and `pid` are set."""
        raise NotImplementedError

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class PackStore(Server):
    key = "packstore"

    def __init__(self, bench):
        super().__init__(
            tools.command("packstore serve", *bench.archives.values(), "--port", "0", "--folder", bench.work / "state", "--grace", "0",
                          "--quiet", "--identity", bench.certificate, bench.certificate_key), bench.work / "packstore.log")
        self.pid = self.process.pid

    def is_ready(self):
        found = re.search(r"serving at https://localhost:(\d+)/", self.log.read_text(errors="replace"))
        self.port = int(found[1]) if found else None
        return found


class Nginx(Server):
    """One worker below a process that starts it."""

    key = "nginx"

    def __init__(self, bench):
        folder = bench.work / "nginx"
        folder.mkdir(exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        paths = [f"{name}_temp_path {folder}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]]
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "configuration").write_text(f"""
            daemon off; worker_processes 1; {user} pid {folder}/pid; error_log {folder}/errors;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; sendfile on; tcp_nopush on; default_type application/octet-stream; keepalive_requests 1000000000;
              {" ".join(paths)}
              server {{
                listen 127.0.0.1:{self.port} ssl http2; root {bench.work}/files;
                ssl_certificate {bench.certificate}; ssl_certificate_key {bench.certificate_key};
                ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites {CIPHER};
              }}
            }}
            """, encoding="utf-8")
        super().__init__(["nginx", "-p", folder, "-e", folder / "errors", "-c", folder / "configuration"], bench.work / "nginx.log")

    def is_ready(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        self.pid = int(children[0]) if children else None
        with socket.socket() as probe:
            return self.pid and probe.connect_ex(("127.0.0.1", self.port)) == 0


# MARK: - Clients


class Client:
    """A program that sends requests as fast as it can."""

    key = title = program = protocol = ""

    def command(self, server, case, seconds, chance, work):
        raise NotImplementedError

    def count(self, text, seconds):
        """Returns the received bytes and the seconds from the output of `command`; `None` if requests failed."""
        raise NotImplementedError


class Wrk(Client):
    key = title = program = "wrk"
    protocol = "HTTP/1.1"

    def command(self, server, case, seconds, chance, work):
        paths = ", ".join(f'"/packs/{name}"' for name in case.packs)
        script = work / "requests.lua"
        script.write_text(f"""
            local paths, length, turn = {{{paths}}}, {case.range_bytes}, 0
            function init() math.randomseed({chance.randrange(1 << 30)}) end
            function request()
              turn = turn + 1
              local path = paths[turn % #paths + 1]
              if length == 0 then return wrk.format("GET", path) end
              local first = math.random(0, {min(PACKS[name] for name in case.packs)} - length)
              return wrk.format("GET", path, {{Range = string.format("bytes=%d-%d", first, first + length - 1)}})
            end
            function done(summary)
              local e = summary.errors
              local failed = e.connect + e.read + e.write + e.status + e.timeout
              print(string.format("took %.0f in %.0f failed %d", summary.bytes, summary.duration, failed))
            end
            """, encoding="utf-8")
        return ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "60s", "-s", script,
                f"https://localhost:{server.port}"]

    def count(self, text, seconds):
        found = re.search(r"took (\d+) in (\d+) failed 0$", text, re.MULTILINE)
        return found and (int(found[1]), int(found[2]) / 1e6)


class H2Load(Client):
    key = title = program = "h2load"
    protocol = "HTTP/2"
    options = ["-m", str(STREAMS)]
    agreed = "h2"

    def command(self, server, case, seconds, chance, work):
        part = case.range_at_random(chance)
        fields = ["-H", f"range: {part}"] if part else []
        urls = [f"https://localhost:{server.port}/packs/{name}" for name in case.packs]
        return ["h2load", "-t", "1", "-c", str(CONNECTIONS), "-D", str(seconds), *self.options, *fields, *urls]

    def count(self, text, seconds):
        agreed = re.search(rf"^Cipher: {CIPHER}$", text, re.MULTILINE) and re.search(
            rf"^Application protocol: {re.escape(self.agreed)}$", text, re.MULTILINE)
        taken = re.search(r"^traffic: .*\((\d+)\) data$", text, re.MULTILINE)
        is_fine = re.search(r"^status codes: [1-9]\d* 2xx, 0 3xx, 0 4xx, 0 5xx$", text, re.MULTILINE)
        return (int(taken[1]), seconds) if agreed and taken and is_fine else None


class H2LoadHTTP1(H2Load):
    key, title, protocol = "h2load-h1", "h2load --h1", "HTTP/1.1"
    options = ["--h1"]
    agreed = "http/1.1"


# MARK: - Slow clients


def http1_request(server):
    return f"GET /packs/{LARGE[0]} HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode()


def http2_request(server):
    """All frames of a client that sends one request and has windows for the whole answer."""
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload
    def literal(index, text):
        return bytes([index, len(text)]) + text.encode()
    head = b"\x82\x87" + literal(4, f"/packs/{LARGE[0]}") + literal(1, f"localhost:{server.port}")
    room = 0x7FFF_FFFF
    return (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, room))
            + frame(8, 0, 0, struct.pack(">I", room - 65_535)) + frame(1, 5, 1, head))


def connect_slowly(server, context, request):
    """A connection with a request and small buffers: the server retains the bytes that the client does not read."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
    plain.settimeout(20)
    plain.connect(("127.0.0.1", server.port))
    secure = context.wrap_socket(plain, server_hostname="localhost")
    secure.sendall(request)
    secure.setblocking(False)
    return secure


def receive(connection):
    """Returns the number of bytes it received; `None` if the connection has ended."""
    try:
        return len(connection.recv(TICK_BYTES)) or None
    except ssl.SSLWantReadError:
        return 0
    except OSError:
        return None


def measure_memory(server, protocol):
    """The most private memory with slow clients."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    name, make_request = {"HTTP/1.1": ("http/1.1", http1_request), "HTTP/2": ("h2", http2_request)}[protocol]
    context.set_alpn_protocols([name])
    before = most = private_bytes(server.pid)
    connections, taken = [], {}
    try:
        for _ in range(SLOW_CLIENTS):
            connections.append(connect_slowly(server, context, make_request(server)))
        end = time.monotonic() + WATCH_SECONDS
        while time.monotonic() < end:
            for connection in connections:
                count = receive(connection)
                if count is None:
                    raise UserError(f"{server.key} has closed the connection of a slow client by {protocol}")
                taken[connection] = taken.get(connection, 0) + count
            most = max(most, private_bytes(server.pid))
            time.sleep(TICK_SECONDS)
    finally:
        for connection in connections:
            connection.close()
    if not min(taken.values()):
        raise UserError(f"{server.key} has sent nothing to a slow client by {protocol}")
    return {"server": server.key, "protocol": protocol, "clients": SLOW_CLIENTS, "before_bytes": before, "bytes": most}


# MARK: - Measuring


@dataclasses.dataclass
class Run:
    """The figures of one client with one server."""

    sample: Sample
    bytes_per_s: float
    server_cpu_s_per_gb: float
    server_busy: float
    client_busy: float


class Bench:
    def __init__(self, work, seconds):
        self.work, self.seconds = work, seconds
        self.certificate, self.certificate_key = work / "certificate.pem", work / "certificate.key"
        self.archives = {}
        # Clients by OpenSSL offer one version of TLS, and one cipher.
        (work / "openssl.cnf").write_text(
            "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = only\n"
            f"[only]\nMinProtocol = TLSv1.3\nCiphersuites = {CIPHER}\n", encoding="utf-8")

    def make_files(self, seed):
        """Archives, and a folder of the same files for nginx."""
        chance, workspace = random.Random(seed), Workspace(self.work / "packages")
        (self.work / "files/packs").mkdir(parents=True)
        run_quietly(tools.command("packstore keygen {key} --quiet", key=self.work / "key"), workspace)
        for name, byte_count in PACKS.items():
            source = workspace.scratch / name
            source.mkdir()
            (source / "asset").write_bytes(chance.randbytes(byte_count))
            manifest = workspace.scratch / f"{name}.json"
            manifest.write_text(json.dumps({
                "assetPackID": name, "downloadPolicy": {"onDemand": {}}, "platforms": [],
                "fileSelectors": [{"filePattern": "**"}], "sourceRoot": name}), encoding="utf-8")
            self.archives[name] = workspace.out / f"{name}.pack"
            run_quietly(tools.command("packstore package {manifest} -o {archive} --key {key} -q", manifest=manifest,
                                      archive=self.archives[name], key=self.work / "key"), workspace)
            os.link(self.archives[name], self.work / "files/packs" / name)
            shutil.rmtree(source)
        run_quietly(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                     "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", self.certificate_key,
                     "-out", self.certificate], workspace)

    def check(self, server):
        """Checks that the server answers with the bytes of the files. The files are in the page cache afterwards."""
        context = ssl.create_default_context(cafile=self.certificate)
        for name, archive in self.archives.items():
            content = archive.read_bytes()
            connection = http.client.HTTPSConnection("localhost", server.port, context=context, timeout=30)
            connection.request("GET", f"/packs/{name}", headers={"Range": "bytes=70000-170000"})
            answer = connection.getresponse()
            if answer.status != 206 or answer.read() != content[70_000:170_001]:
                raise UserError(f"{server.key} answers with other bytes than the file")
            connection.close()

    def measure(self, server, client, case, chance):
        command = client.command(server, case, self.seconds, chance, self.work)
        machine, used = machine_cpu_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
        server_before, begin = cpu_seconds(server.pid), time.perf_counter()
        answer = subprocess.run(["taskset", "-c", str(CLIENT_PLACE), *map(str, command)], capture_output=True, text=True,
                                check=False, env=os.environ | {"OPENSSL_CONF": str(self.work / "openssl.cnf")})
        wall, server_cpu = time.perf_counter() - begin, cpu_seconds(server.pid) - server_before
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        client_cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        other_cpu = max(0.0, machine_cpu_seconds() - machine - server_cpu - client_cpu)
        count = client.count(answer.stdout, self.seconds) if answer.returncode == 0 else None
        if not count:
            raise ToolFailure(f"{client.title} with {server.key}, {case.key}: {answer.stdout[-2000:]}{answer.stderr[-500:]}")
        byte_count, taken_s = count
        sample = Sample(wall_s=wall, wall_synced_s=wall, cpu_s=server_cpu + client_cpu, peak_rss_bytes=0, other_cpu_s=other_cpu)
        return Run(sample=sample, bytes_per_s=byte_count / taken_s, server_cpu_s_per_gb=server_cpu / (byte_count / 1e9),
                   server_busy=server_cpu / wall, client_busy=client_cpu / wall)


def chosen_tools(only, notes):
    """The installed ones of the requested servers and clients."""
    servers, clients = [PackStore, Nginx], [Wrk(), H2LoadHTTP1(), H2Load()]
    keys = [tool.key for tool in [*servers, *clients]]
    if unknown := set(only) - set(keys):
        raise UserError(f"unknown tool {', '.join(sorted(unknown))}: use {', '.join(keys)}")
    missing = [name for name in ["h2load", "nginx", "wrk"] if not shutil.which(name)]
    tools.note_missing(missing, notes)
    return ([server for server in servers if server.key in (only or keys) and server.key not in missing],
            [client for client in clients if client.key in (only or keys) and client.program not in missing])


def measure(run):
    if unknown := set(run.arguments.cases) - {case.key for case in CASES}:
        raise UserError(f"unknown case {', '.join(sorted(unknown))}: use {', '.join(case.key for case in CASES)}")
    cases = [case for case in CASES if case.key in run.arguments.cases]
    servers, clients = chosen_tools(run.arguments.tools, run.notes)
    if PROCESSORS < 2:
        run.notes.add("Servers and clients share the only processor.")
    bench = Bench(run.work, run.arguments.seconds)
    progress("making archives")
    bench.make_files(run.arguments.seed)
    memory = measure_all_memory(bench, servers)
    version_arguments = {"packstore": "--version", "nginx": "-v", "wrk": "--version", "h2load": "--version"}
    present = [*(server.key for server in servers), *(client.program for client in clients)]
    return {
        "seconds": run.arguments.seconds, "cipher": CIPHER, "connections": CONNECTIONS, "streams": STREAMS,
        "rows": measure_throughput(bench, servers, clients, cases, run.arguments, run.notes),
        "memory": memory,
        "versions": tools.versions({name: argument for name, argument in version_arguments.items() if name in present}),
    }


def measure_all_memory(bench, kinds):
    rows = []
    for kind in kinds:
        for protocol in ["HTTP/1.1", "HTTP/2"]:
            progress(f"memory of {kind.key} by {protocol}")
            server = kind(bench)
            try:
                rows.append(measure_memory(server, protocol))
            finally:
                server.end()
    return rows


def measure_throughput(bench, kinds, clients, cases, arguments, notes):
    """A row for each case and client."""
    pairs = [(case, client) for case in cases for client in clients]
    runs = {(case.key, client.key, kind.key): [] for case, client in pairs for kind in kinds}
    servers = []
    try:
        for kind in kinds:
            servers.append(kind(bench))
            bench.check(servers[-1])
        for number in range(arguments.runs):
            for case, client in pairs:
                for server in rotated(servers, number):
                    # The same ranges for both servers.
                    chance = random.Random(f"{arguments.seed} {number} {case.key}")
                    runs[case.key, client.key, server.key].append(run := bench.measure(server, client, case, chance))
                    progress(f"{number + 1}/{arguments.runs} {case.key:12}{client.title:13}{server.key:10}"
                             f"{run.bytes_per_s / 1e6:7.0f} MB/s{run.server_cpu_s_per_gb:7.2f} s/GB, "
                             f"busy {run.server_busy:.0%} {run.client_busy:.0%}")
    finally:
        for server in servers:
            server.end()
    rows = []
    for case, client in pairs:
        row = {"case": case.key, "client": client.title, "protocol": client.protocol, "goal": goal_of(case, client)}
        for kind in kinds:
            taken = runs[case.key, client.key, kind.key]
            row[kind.key] = {name: [getattr(run, name) for run in taken] for name in FIGURES}
        rows.append(row)
    for kind in kinds:
        samples = [run.sample for (*_, key), taken in runs.items() if key == kind.key for run in taken]
        notes.add_disturbance(f"{kind.key}'s throughput", samples)
    return rows
