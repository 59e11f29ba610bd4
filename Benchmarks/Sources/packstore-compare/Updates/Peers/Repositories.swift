import Foundation

/// A backup program's repository: the data that the second version adds to it. None restores partially, so no client is
/// measured.
struct RepositoryProgram: UpdateParticipant {
  let name: String
  let key: String
  let program: Program
  var versionArgument = "--version"
  /// Arguments that make the repository `$0`.
  let create: @Sendable (String) -> [String]
  /// Arguments that store the working folder in it as its version `$1`.
  let store: @Sendable (String, String) -> [String]

  var programs: [Program] { [program] }
  var version: String { program.version(versionArgument) }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    let repository = "\(folder)/repository"
    // Keeps caches and settings away from the user's own.
    let environment = [
      "HOME": folder, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "RESTIC_PASSWORD": "benchmark",
      "RESTIC_CACHE_DIR": "\(folder)/cache", "BORG_BASE_DIR": folder,
      "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
    ]
    _ = try trial.measure(program, create(repository), environment: environment)
    _ = try trial.measure(program, store(repository, "old"), in: trial.pair.from, environment: environment)
    let before = try FolderState(repository).byteCount
    let built = try trial.measure(program, store(repository, "new"), in: trial.pair.to, environment: environment).usage
    let growth = try FolderState(repository).byteCount - before
    report(UpdateRow(key: key, name: name, byteCount: growth, publishedByteCount: growth, build: built))
  }
}

extension RepositoryProgram {
  /// At about the level at which PackStore publishes.
  static let all: [Self] = [
    Self(
      name: "restic, compression max", key: "restic-max", program: Program("restic"), versionArgument: "version",
      create: { ["-r", $0, "init"] },
      store: { repository, _ in ["-r", repository, "backup", "--quiet", "--compression", "max", "."] }),
    Self(
      name: "borg, zstd 12", key: "borg-zstd-12", program: Program("borg"),
      create: { ["init", "-e", "none", $0] },
      store: { ["create", "--compression", "zstd,12", "\($0)::\($1)", "."] }),
  ]
}
