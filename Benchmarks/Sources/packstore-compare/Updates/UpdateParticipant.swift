import Foundation

/// A way, or a few, of bringing a client from one version to the next.
protocol UpdateParticipant: Sendable {
  /// As `--only` and the report's notes name it.
  var name: String { get }

  /// The required programs.
  var programs: [Program] { get }

  /// The main program's version for the report, as the program prints it.
  var version: String { get }

  /// Measures with a pair, in the empty folder `folder`, which is removed afterwards.
  ///
  /// - Throws: `Unavailable` if the tool does not support the pair; any other error is a failure.
  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws
}

extension UpdateParticipant {
  var unavailability: String? { programs.lazy.compactMap(\.unavailability).first }

  var version: String { programs.first?.version("--version") ?? name }
}

/// A pair of versions under measurement, and what several participants use of it.
final class UpdateTrial {
  let pair: VersionPair
  let from: FolderSummary
  let to: FolderSummary
  /// Seconds after which each run of a peer's program is ended.
  let patience: Double
  private let folder: String
  private var archives: [String: String] = [:]

  /// - Parameter folder: an empty folder for temporary files.
  init(_ pair: VersionPair, patience: Double, in folder: String) throws {
    self.pair = pair
    self.patience = patience
    self.folder = folder
    from = try FolderSummary(pair.from)
    to = try FolderSummary(pair.to)
  }

  /// The versions as tar files without times and owners, for tools that know single files. Made once, not measured.
  func oldArchive() throws -> String { try archive("old", pair.from) }
  func newArchive() throws -> String { try archive("new", pair.to) }

  /// One run of a peer's program, as `Program.measure`. It may take as long as this trial has patience.
  func measure(
    _ program: Program, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]
  ) throws -> (output: String, usage: ProgramUsage) {
    try program.measure(arguments, in: folder, environment: environment, atMost: patience)
  }

  private func archive(_ name: String, _ source: String) throws -> String {
    if let made = archives[name] { return made }
    let path = "\(folder)/\(name).tar"
    try Program("tar").run(
      ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-C", source, "-cf", path, "."])
    archives[name] = path
    return path
  }

  /// Fails unless two files have the same bytes.
  static func expectEqual(_ path: String, _ expected: String) throws {
    let names = AssetPaths([path, expected].map { String($0.dropFirst()) })
    let root = try FileFolder("/")
    let isEqual = try MappedFile(names[0], in: root).withBytes { made in
      try MappedFile(names[1], in: root).withBytes {
        made.count == $0.count && (made.isEmpty || memcmp(made.baseAddress!, $0.baseAddress!, made.count) == 0)
      }
    }
    guard isEqual else { throw WrongBytes(path: URL(fileURLWithPath: path).lastPathComponent) }
  }
}

/// Above so many bytes of either version a participant is not tried, and why.
struct SizeLimit {
  let byteCount: Int
  let reason: String

  /// Takes minutes for half a gigabyte, which nothing is learnt from that smaller pairs do not show.
  static let slow = Self(byteCount: 450_000_000, reason: "it would take minutes")

  /// - Throws: `Unavailable` for a pair that is larger.
  func check(_ trial: UpdateTrial) throws {
    guard max(trial.from.byteCount, trial.to.byteCount) > byteCount else { return }
    throw Unavailable("not above \(megabytes(byteCount, 0)) MB: \(reason)")
  }
}

/// How much there is below a folder.
struct FolderSummary: Codable, Equatable {
  let fileCount: Int
  let byteCount: Int
}

extension FolderSummary {
  init(_ folder: String) throws {
    let state = try FolderState(folder)
    self.init(fileCount: state.fileCount, byteCount: state.byteCount)
  }
}

/// Bytes of one file.
func fileByteCount(_ path: String) throws -> Int {
  var about = stat()
  guard stat(path, &about) == 0 else { throw SystemError("stat", URL(fileURLWithPath: path).lastPathComponent) }
  return Int(about.st_size)
}
