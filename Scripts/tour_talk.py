"""The steps of Apple's talk of 2025 for the demo of the sample app, by the names of Apple's tools: template, package, mock server,
override, app, and an update while it plays.
"""
import os
import shlex
import subprocess
import time

from demonstration import fail, step
from tour_site import App, Site, environment


class AppleTools:
    """Links to the program with the names of Apple's tools, and their command lines."""

    def __init__(self, packstore, site):
        self.site = site
        self.folder = f"{site.folder}/tools"
        os.mkdir(self.folder)
        for tool in ("ba-package", "ba-serve"):
            os.symlink(packstore, f"{self.folder}/{tool}")
        self.environment = environment(site.folder, XDG_DATA_HOME=f"{site.folder}/data")
        self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"
        self.server = None

    def run(self, line, **more):
        print(f"   > {line}", flush=True)
        done = subprocess.run(shlex.split(line), capture_output=True, text=True, cwd=self.site.content, check=False,
                              env={**self.environment, **more})
        if done.returncode != 0:
            fail(f"{line} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def serve(self, line):
        """Starts the mock server, and returns when it serves."""
        print(f"   > {line} &", flush=True)
        log = f"{self.site.folder}/ba-serve.log"
        with open(log, "w", encoding="utf-8") as file:
            self.server = subprocess.Popen(shlex.split(line), stdout=file, stderr=subprocess.STDOUT, cwd=self.site.content,
                                           env=self.environment)
        while self.server.poll() is None:
            with open(log, encoding="utf-8") as file:
                if any(text.startswith("serving at ") for text in file):
                    return
            time.sleep(0.02)
        with open(log, encoding="utf-8") as file:
            fail(f"ba-serve ended:\n{file.read()}")

    def stop(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
        self.server = None


def write_properties(site):
    """Writes the property list that the talk shows, and returns its path."""
    path = f"{site.folder}/talk.plist"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>BAAppGroupID</key><string>org.packstore.talk</string>
  <key>BAHasManagedAssetPacks</key><true/>
  <key>BAUsesAppleHosting</key><true/>
  <key>PackStoreGroupFolder</key><string>{site.folder}/talk-group</string>
  <key>CFBundleIdentifier</key><string>org.packstore.talk</string>
  <key>CFBundleShortVersionString</key><string>1.0</string>
</dict></plist>
""")
    return path


def run(packstore, tour, site, portrait):
    """Runs the steps of the talk. `portrait` is a file of the pack Portraits, which the publisher changes."""
    step("The steps of Apple's talk, by the names of Apple's tools: template, package, mock server and override")
    tools = AppleTools(packstore, site)
    try:
        visit(tools, tour, site, portrait)
    finally:
        tools.stop()


def visit(tools, tour, site, portrait):
    properties = write_properties(site)
    tools.run("ba-package template -o Template.json")
    archives = [f"{pack}.aar" for pack in Site.PACKS]
    for pack, archive in zip(Site.PACKS, archives):
        tools.run(f"ba-package {pack}.json -o {archive}")
    serve = f"ba-serve {' '.join(archives)} --host localhost --port {site.port}"
    tools.serve(serve)
    authority = f"{site.folder}/data/packstore-serve/authority.pem"
    override = f"ba-serve url-override https://localhost:{site.port}"
    print(f"   {tools.run(f'{override} --ca {authority} --group {properties}').splitlines()[-1]}")

    step("The app, whose property list has no URL, plays with the packs of the mock server")
    app = App(tour, properties, environment(site.folder))
    app.do("wait")
    app.do("packs", r"Basics@1 +here", r"Portraits@1 +here", r"Depths +not here")
    app.do("play 1", "Out of the cave")

    step(f"The publisher changes {portrait}, packages it again, and the app is updated while it plays")
    site.insert_byte(portrait)
    tools.run("ba-package Portraits.json -o Portraits-2.aar")
    tools.stop()
    tools.serve(serve.replace("Portraits.aar", "Portraits-2.aar") + " --asset-pack-versions 1 1 2 1 1")
    app.do("update", "updating: Portraits;")
    app.do("play 3", "Out of the cave")
    app.do("wait")
    app.do("packs", r"Portraits@2 +here")
    app.do(f"portrait {portrait}", r"the first four are 21 21 ")
    app.quit()
    tools.run(f"ba-serve url-override --clear --group {properties}")
