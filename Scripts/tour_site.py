"""Common code of the demos of the sample app, Scripts/demo-app and Scripts/demo-delivery: published content, and the app, driven by
its commands.
"""
import os
import re
import subprocess

from demonstration import fail, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Site:
    """The published content, and the port for a server of it."""

    PACKS = ["Basics", "Depths", "Portraits", "Texts-en", "Texts-de"]

    def __init__(self, packstore, folder):
        self.packstore = packstore
        self.folder = folder
        self.content = f"{folder}/content"
        self.site = f"{folder}/site"
        self.port = free_port()
        subprocess.run([f"{ROOT}/Examples/Tour/make-content", self.content], check=True)
        key = self.packstore_output("keygen", f"{folder}/key")
        self.public_key = re.search(r"[A-Za-z0-9+/]{43}=", key)[0]

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
        """Inserts a byte at the front of a portrait, and returns its length before that."""
        with open(self.portrait_path(name), "rb") as file:
            old = file.read()
        with open(self.portrait_path(name), "wb") as file:
            file.write(b"!" + old)
        return len(old)


def write_properties(site, url):
    """Writes the property list of the app, with the URL of its packs, and returns the path."""
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
    """The environment of the app and its helpers, without the user's settings."""
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

    def expect_output(self, command, is_last, patterns):
        """Shows the output of the app until a line. It must contain each pattern, in any order."""
        lines = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line != "ok" and self.is_shown:
                print(f"   {line}", flush=True)
            lines.append(line)
            if is_last(line):
                break
        else:
            fail(f"the app ended at {command}, with status {self.process.wait()}")
        text = "\n".join(lines)
        for pattern in patterns:
            if not re.search(pattern, text):
                fail(f"after {command}, the app did not print '{pattern}'")
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
