"""Common code of the demos: numbered steps, errors that end the demo, nginx as a web server, and the
temporary folder.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NAME = os.path.basename(sys.argv[0])
step_number, step_begin = 0, 0.0


def fail(text):
    sys.exit(f"{NAME}: {text}")


def show(count):
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def note(text):
    print(f"   {text}", flush=True)


def step(text, seconds=0):
    """Prints the title of the next step. The demo fails if the step takes longer than `seconds`; 0 is no limit."""
    global step_number, step_begin
    step_number, step_begin = step_number + 1, time.monotonic()
    signal.signal(signal.SIGALRM, lambda *_: fail(f"the step took more than {seconds} seconds"))
    signal.alarm(seconds)
    print(f"\n{step_number}. {text}", flush=True)


def step_seconds():
    return time.monotonic() - step_begin


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, fault):
    """Waits until a process accepts connections, or fails with `fault` if it has ended."""
    while process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
    fail(fault)


class Nginx:
    """A web server for the files below `root`, which counts the bytes it sends. Its own files are in `folder`."""

    def __init__(self, folder, root, port=None):
        self.folder, self.root, self.port, self.process = folder, root, port or free_port(), None
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        with open(f"{self.folder}/nginx.conf", "w", encoding="utf-8") as file:
            file.write(f"""
                daemon off; master_process off; pid {self.folder}/nginx.pid; error_log {self.folder}/nginx.errors;
                events {{ worker_connections 64; }}
                http {{
                  log_format bytes '$bytes_sent'; access_log {self.folder}/sent bytes; {temporary}
                  server {{ listen 127.0.0.1:{self.port}; root {self.root}; }}
                }}""")
        self.process = subprocess.Popen(["nginx", "-p", self.folder, "-e", f"{self.folder}/nginx.errors", "-c",
                                         f"{self.folder}/nginx.conf"], env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
        wait_for_port(self.port, self.process, f"nginx does not start; install nginx-light, or see {self.folder}/nginx.errors")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def counts(self):
        """The number of answers so far, and their bytes with heads."""
        try:
            with open(f"{self.folder}/sent", encoding="ascii") as file:
                sizes = [int(line) for line in file]
        except FileNotFoundError:
            sizes = []
        return len(sizes), sum(sizes)


def run_demo(run, *programs):
    """Calls `run` with the programs of the command line and a folder, which is deleted unless KEEP is 1."""
    if len(sys.argv) != 1 + len(programs):
        fail(f"usage: Scripts/{NAME} {' '.join(programs)}")
    paths = [os.path.abspath(path) for path in sys.argv[1:]]
    for path in paths:
        if not os.access(path, os.X_OK):
            fail(f"missing program '{path}': build it with 'make {NAME}'")
    folder = tempfile.mkdtemp(prefix=f"packstore-{NAME}.")
    begin = time.monotonic()
    try:
        run(*paths, folder)
    finally:
        signal.alarm(0)
        if os.environ.get("KEEP") == "1":
            print(f"{NAME}: kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\nAll steps succeeded in {time.monotonic() - begin:.0f} s.")
