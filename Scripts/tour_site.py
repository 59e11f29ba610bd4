"""What the demos of the sample app share, Scripts/demo-app and Scripts/demo-delivery: content that is published, and the app, driven
by its commands.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def show(count):
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


class Site:
    """What is published, and the port at which a server is to serve it."""

    PACKS = ["Basics", "Depths", "Portraits", "Texts-en", "Texts-de"]

    def __init__(self, packstore, folder):
        self.packstore = packstore
        self.folder = folder
        self.content = f"{folder}/content"
        self.site = f"{folder}/site"
        self.port = self.free_port()
        subprocess.run([f"{ROOT}/Examples/Tour/make-content", self.content], check=True)
        key = self.packstore_output("keygen", f"{folder}/key")
        self.public_key = re.search(r"[A-Za-z0-9+/]{43}=", key)[0]

    @staticmethod
    def free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def packstore_output(self, *arguments):
        done = subprocess.run([self.packstore, *arguments], capture_output=True, text=True, cwd=self.content if
                              os.path.isdir(self.content) else self.folder)
        if done.returncode != 0:
            fail(f"packstore {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def publish(self, *packs):
        for pack in packs:
            self.packstore_output("publish", f"{pack}.json", self.site, "--key", f"{self.folder}/key", "--level", "6",
                                  "--primary-language", "en", "--json")

    def portrait_path(self, name):
        return f"{self.content}/Portraits/Portraits/{name}"

    def largest_portrait(self, names):
        return max(names, key=lambda name: os.path.getsize(self.portrait_path(name)))

    def insert_byte(self, name):
        """Inserts a byte at the front of a portrait, and returns how many it had."""
        with open(self.portrait_path(name), "rb") as file:
            old = file.read()
        with open(self.portrait_path(name), "wb") as file:
            file.write(b"!" + old)
        return len(old)


def write_properties(site, url):
    """Writes the property list of the app, which takes its packs from a URL, and returns its path."""
    path = f"{site.folder}/tour.plist"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>BAAppGroupID</key><string>org.packstore.tour</string>
  <key>BAHasManagedAssetPacks</key><true/>
  <key>BAManifestURL</key><string>{url}</string>
  <key>PackStoreTrustedKey</key><string>{site.public_key}</string>
  <key>PackStoreGroupFolder</key><string>{site.folder}/group</string>
  <key>CFBundleIdentifier</key><string>org.packstore.tour</string>
  <key>CFBundleShortVersionString</key><string>1.0</string>
</dict></plist>
""")
    return path


def environment(folder, **more):
    """That of the app and of what works for it: nothing of the user's counts."""
    return {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "en_US.UTF-8", **more}


class App:
    """The sample app, driven by its commands."""

    def __init__(self, program, properties, variables):
        self.environment = {**variables, "PACKSTORE_BACKGROUND_ASSETS": properties}
        self.program = program
        self.is_shown = True
        self.launch()

    def launch(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=self.environment)
        try:
            self.expect_output("its start", lambda line: line.startswith("== "), [])
        except BaseException:
            self.process.kill()
            raise

    def expect_output(self, what, is_last, patterns):
        """Shows what the app says until a line; each pattern has to be in it, in any order."""
        lines = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line != "ok" and self.is_shown:
                print(f"   {line}", flush=True)
            lines.append(line)
            if is_last(line):
                break
        else:
            fail(f"the app ended at {what}, with status {self.process.wait()}")
        text = "\n".join(lines)
        for pattern in patterns:
            if not re.search(pattern, text):
                fail(f"after {what}, the app did not say '{pattern}'")
        return text

    def do(self, command, *patterns, fails=False):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        text = self.expect_output(f"'{command}'", lambda line: line == "ok", patterns)
        if ("\nerror: " in text) != fails:
            fail(f"'{command}' should {'have failed' if fails else 'not have failed'}")
        return text

    def portraits(self):
        return [name.strip() for name in self.do("portrait").split("\n")[1:-1]]

    def quit(self, status=0):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.stdout.read()
        if self.process.wait() != status:
            fail(f"the app ended with status {self.process.returncode}, and not {status}")


step_number = 0


def step(text):
    global step_number
    step_number += 1
    print(f"\n{step_number}. {text}", flush=True)


def run_demo(run):
    """Calls `run` with the programs of the command line and a folder, which is removed unless KEEP is 1."""
    name = os.path.basename(sys.argv[0])
    if len(sys.argv) != 3:
        fail(f"usage: Scripts/{name} PACKSTORE TOUR")
    packstore, tour = (os.path.abspath(path) for path in sys.argv[1:])
    for program in (packstore, tour):
        if not os.access(program, os.X_OK):
            fail(f"there is no program '{program}': run 'make {name}', which builds it")
    folder = tempfile.mkdtemp(prefix="packstore-tour.")
    begin = time.monotonic()
    try:
        run(packstore, tour, folder)
    finally:
        if os.environ.get("KEEP") == "1":
            print(f"{name}: kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\nAll steps are done, after {time.monotonic() - begin:.0f} seconds.")
