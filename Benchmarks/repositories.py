"""Programs that keep versions of a folder in one repository, as PackStore does: how each takes in a version."""

from measuring import Tool, run_quietly


class Restic(Tool):
    key = "restic-auto"
    title = "restic, compression auto"
    command = "restic backup --compression auto ."
    program = "restic"
    version_arguments = ["version"]
    keeps_versions = True

    def prepare(self, workspace):
        run_quietly(["restic", "-r", str(workspace.out / "repository"), "init"], workspace)

    def stages(self, workspace, folder, version):
        repository = str(workspace.out / "repository")
        return [["restic", "-r", repository, "backup", "--quiet", "--compression", "auto", "."]]


class Borg(Tool):
    key = "borg-zstd-3"
    title = "borg, zstd 3"
    command = "borg create --compression zstd,3 REPOSITORY::VERSION ."
    program = "borg"
    keeps_versions = True

    def prepare(self, workspace):
        run_quietly(["borg", "init", "-e", "none", str(workspace.out / "repository")], workspace)

    def stages(self, workspace, folder, version):
        archive = f"{workspace.out / 'repository'}::{version}"
        return [["borg", "create", "--compression", "zstd,3", archive, "."]]


class Casync(Tool):
    key = "casync-zstd"
    title = "casync make, zstd"
    command = "casync make --compression=zstd --store=STORE INDEX FOLDER"
    program = "casync"
    keeps_versions = True

    def stages(self, workspace, folder, version):
        store = str(workspace.out / "store.castr")
        index = str(workspace.out / f"{version}.caidx")
        options = ["--compression=zstd", f"--store={store}"]
        return [["casync", "make", *options, index, str(folder)]]
