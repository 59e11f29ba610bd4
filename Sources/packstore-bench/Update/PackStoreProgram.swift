import Foundation
import Synchronization

/// The `packstore` program, which reports its results as JSON.
struct PackStoreProgram {
  private let path: String

  /// - Parameter path: the path of the program; `nil` to search next to this program, then in PATH.
  /// - Throws: ``Unavailable`` if the program does not exist.
  init(at path: String?) throws {
    let beside = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let places = path.map { [$0] } ?? ([beside].compactMap(\.self) + folders).map { "\($0)/packstore" }
    guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
      throw Unavailable("program '\(path ?? "packstore")': not found; name it with --packstore")
    }
    self.path = found
    _ = Self.endsWithTheBenchmark
  }

  /// The id of the running process; 0 if no process runs.
  private static let running = Atomic<pid_t>(0)
  private static let endsWithTheBenchmark: Void = Interruption.whenItBegins {
    let process = running.load(ordering: .sequentiallyConsistent)
    if process != 0 { kill(process, SIGKILL) }
  }

  /// The output of a command. Each command sets some of the fields.
  struct Answer: Decodable {
    struct Pack: Decodable {
      let metadataBytes: Int?
      let newStoredBytes: Int?
      let versions: [Version]?
    }

    struct Version: Decodable {
      let current: Bool
      let catalog: String
    }

    let seconds: Double?
    let bytes: Int?
    let newBytes: Int?
    let wireBytes: Int?
    let requests: Int?
    let newStoredBytes: Int?
    let publicKey: String?
    let packs: [Pack]?
  }

  /// Runs a command of the program.
  ///
  /// - Throws: ``Unavailable`` with the command's error message.
  @discardableResult
  func run(_ command: String, _ arguments: String...) throws -> Answer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = [command] + arguments + ["--quiet", "--json"]
    let output = Pipe()
    let complaints = Pipe()
    process.standardOutput = output
    process.standardError = complaints
    try process.run()
    Self.running.store(process.processIdentifier, ordering: .sequentiallyConsistent)
    // The error output fits in a pipe, so it can be read after the output.
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    Self.running.store(0, ordering: .sequentiallyConsistent)
    process.waitUntilExit()
    Interruption.waitForTheEnd()
    guard process.terminationStatus == 0 else {
      throw Unavailable("packstore \(command): \(Self.message(of: complaint))")
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Answer.self, from: answer)
  }
  /// Returns the message of the JSON object on the last line of standard error, or the line itself.
  private static func message(of complaint: String) -> String {
    struct Failure: Decodable { let message: String }
    let line = complaint.split(separator: "\n").last ?? "failed"
    return (try? JSONDecoder().decode(Failure.self, from: Data(line.utf8)))?.message ?? String(line)
  }
}
