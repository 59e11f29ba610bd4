"""Programs that keep versions of a folder in one repository, as PackStore does: how each takes in a version, and how it gives
up old ones and frees what only they needed."""

from measuring import Tool, run_quietly


class Repository(Tool):
    """A tool that keeps versions, which it knows by their numbers.

    `dropping` is what a reader would type to drop versions and free their space.
    """

    keeps_versions = True
    dropping = ""

    def drop(self, workspace, dropped, kept):
        """The commands, one after another, that give up the versions `dropped` and free what none of `kept` needs."""
        raise NotImplementedError


class Restic(Repository):
    key = "restic-auto"
    title = "restic, compression auto"
    command = "restic backup --compression auto ."
    dropping = "restic forget --keep-last KEPT --prune"
    program = "restic"
    version_arguments = ["version"]

    def prepare(self, workspace):
        run_quietly(["restic", "-r", str(workspace.out / "repository"), "init"], workspace)

    def stages(self, workspace, folder, version):
        repository = str(workspace.out / "repository")
        return [["restic", "-r", repository, "backup", "--quiet", "--compression", "auto", "."]]

    def drop(self, workspace, dropped, kept):
        repository = str(workspace.out / "repository")
        return [["restic", "-r", repository, "forget", "--quiet", "--keep-last", str(len(kept)), "--prune"]]


class Borg(Repository):
    key = "borg-zstd-3"
    title = "borg, zstd 3"
    command = "borg create --compression zstd,3 REPOSITORY::VERSION ."
    dropping = "borg delete REPOSITORY VERSION..., borg compact REPOSITORY"
    program = "borg"

    def prepare(self, workspace):
        run_quietly(["borg", "init", "-e", "none", str(workspace.out / "repository")], workspace)

    def stages(self, workspace, folder, version):
        archive = f"{workspace.out / 'repository'}::{version}"
        return [["borg", "create", "--compression", "zstd,3", archive, "."]]

    def drop(self, workspace, dropped, kept):
        repository = str(workspace.out / "repository")
        return [["borg", "delete", repository, *map(str, dropped)], ["borg", "compact", repository]]


class Casync(Repository):
    key = "casync-zstd"
    title = "casync make, zstd"
    command = "casync make --compression=zstd --store=STORE INDEX FOLDER"
    dropping = "rm INDEX..., casync gc --store=STORE INDEX..."
    program = "casync"

    def _index(self, workspace, version):
        return str(workspace.out / f"{version}.caidx")

    def stages(self, workspace, folder, version):
        options = ["--compression=zstd", f"--store={workspace.out / 'store.castr'}"]
        return [["casync", "make", *options, self._index(workspace, version), str(folder)]]

    def drop(self, workspace, dropped, kept):
        indexes = [self._index(workspace, version) for version in kept]
        return [
            ["rm", *(self._index(workspace, version) for version in dropped)],
            ["casync", "gc", f"--store={workspace.out / 'store.castr'}", *indexes],
        ]


class OSTree(Repository):
    """Keeps whole files, compressed with zlib, each content once."""

    key = "ostree-archive"
    title = "ostree, archive"
    command = "ostree commit --repo=REPOSITORY --branch=main --tree=dir=FOLDER"
    dropping = "ostree prune --repo=REPOSITORY --refs-only --depth=KEPT-1"
    program = "ostree"

    def _repository(self, workspace):
        return f"--repo={workspace.out / 'repository'}"

    def prepare(self, workspace):
        run_quietly(["ostree", self._repository(workspace), "init", "--mode=archive"], workspace)

    def stages(self, workspace, folder, version):
        options = ["--branch=main", f"--subject={version}", f"--tree=dir={folder}"]
        return [["ostree", self._repository(workspace), "commit", *options]]

    def drop(self, workspace, dropped, kept):
        return [["ostree", self._repository(workspace), "prune", "--refs-only", f"--depth={len(kept) - 1}"]]
