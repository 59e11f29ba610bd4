import Foundation
import Synchronization

/// The `packstore` program, which says what it did as JSON.
struct PackStoreProgram {
  private let path: String

  /// - Parameter path: where it lies; if nil, it is looked for beside this program, and on the PATH.
  /// - Throws: ``Unavailable`` when it is not there.
  init(at path: String?) throws {
    let beside = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let places = path.map { [$0] } ?? ([beside].compactMap(\.self) + folders).map { "\($0)/packstore" }
    guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
      throw Unavailable("there is no program '\(path ?? "packstore")': name it with --packstore")
    }
    self.path = found
    _ = Self.endsWithTheBenchmark
  }

  /// The process that runs; 0 between two of them.
  private static let running = Atomic<pid_t>(0)
  private static let endsWithTheBenchmark: Void = Interruption.whenItBegins {
    let process = running.load(ordering: .sequentiallyConsistent)
    if process != 0 { kill(process, SIGKILL) }
  }

  /// What its commands answer, each with some of it.
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

  /// - Throws: ``Unavailable`` with the last line of what it complains about.
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
    // It says little, less than a pipe has room for: one may be read after the other.
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
  /// What went wrong, of the object that is the last line of the standard error.
  private static func message(of complaint: String) -> String {
    struct Failure: Decodable { let message: String }
    let line = complaint.split(separator: "\n").last ?? "failed"
    return (try? JSONDecoder().decode(Failure.self, from: Data(line.utf8)))?.message ?? String(line)
  }
}
