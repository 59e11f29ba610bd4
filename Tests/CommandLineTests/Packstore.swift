/// Runs the built `packstore` in a folder of its own.

import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A temporary folder, removed with its owner. Commands run in it, so that output names relative paths only.
final class Playground {
  let path: String

  /// Whether commands that sign get `--new-key` if the file of their `--key` is missing. Tests of missing keys turn it off.
  var makesKeys = true

  init() throws {
    var template = Array("\(NSTemporaryDirectory())/packstore-test.XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit {
    // Not by FileManager: names may be no UTF-8, and tests take rights away.
    let cleaner = Process()
    cleaner.executableURL = URL(fileURLWithPath: "/bin/sh")
    cleaner.arguments = ["-c", "chmod -R u+rwX \"$1\"; rm -rf \"$1\"", "sh", path]
    cleaner.standardError = FileHandle.nullDevice
    try? cleaner.run()
    cleaner.waitUntilExit()
  }

  /// Makes a file, and its parent folders.
  func write(_ content: some Sequence<UInt8>, to file: String) throws {
    let target = URL(fileURLWithPath: "\(path)/\(file)")
    try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(content).write(to: target)
  }

  func write(_ content: String, to file: String) throws { try write(content.utf8, to: file) }

  func makeFolder(_ folder: String) throws {
    try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
  }

  /// A name of any bytes.
  func write(_ content: String, toRaw name: [UInt8]) throws {
    let descriptor = (Array("\(path)/".utf8) + name + [0]).withUnsafeBytes {
      open($0.assumingMemoryBound(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o600)
    }
    try #require(descriptor >= 0)
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(content.utf8))
  }

  func link(_ name: String, to target: String) throws {
    try #require(symlink(target, "\(path)/\(name)") == 0)
  }

  func read(_ file: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: "\(path)/\(file)"))) }

  func text(_ file: String) throws -> String { String(decoding: try read(file), as: UTF8.self) }

  func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(file)") }

  func exists(_ file: String) -> Bool { kind(of: file) != nil }

  /// The kind of a link itself, not of its target; `nil` if nothing has the name.
  private func kind(of file: String) -> FileAttributeType? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
    return attributes?[.type] as? FileAttributeType
  }

  /// Everything below a folder, sorted, folders with a slash.
  func tree(_ folder: String) -> [String] {
    guard let names = FileManager.default.enumerator(atPath: "\(path)/\(folder)") else { return [] }
    return names.compactMap { $0 as? String }.map { name in
      kind(of: "\(folder)/\(name)") == .typeDirectory ? name + "/" : name
    }.sorted()
  }
}

/// The result of a command.
struct Run {
  let status: Int32
  let bytes: [UInt8]
  let errors: String

  var output: String { String(decoding: bytes, as: UTF8.self) }
  var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }

  /// The one JSON document on standard output.
  /// The result without `type` and `format_version`, which `JSONTests` checks.
  var json: NSDictionary {
    get throws { try Self.result(bytes) }
  }

  var jsonLines: [NSDictionary] {
    get throws { try lines.map { try Self.result(Array($0.utf8)) } }
  }

  private static func result(_ bytes: [UInt8]) throws -> NSDictionary {
    let members = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    return members.filter { !["type", "format_version"].contains($0.key) } as NSDictionary
  }
}

extension Playground {
  /// Runs `packstore` to its end.
  @discardableResult
  func packstore(_ arguments: String..., environment: [String: String] = [:]) throws -> Run {
    try run(packstoreURL, arguments, environment)
  }

  @discardableResult
  func packstore(_ arguments: [String]) throws -> Run { try run(packstoreURL, arguments) }

  /// Runs a command with more variables in the environment.
  func run(_ arguments: [String], _ environment: [String: String]) throws -> Run {
    try run(packstoreURL, arguments, environment)
  }

  /// Runs `packstore`, which has to succeed.
  @discardableResult
  func succeed(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Run {
    let run = try packstore(arguments)
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    return run
  }

  /// Runs a script to its end.
  func shell(_ script: String) throws -> Run { try run(URL(fileURLWithPath: "/bin/sh"), ["-c", script]) }

  private func run(_ executable: URL, _ arguments: [String], _ environment: [String: String] = [:]) throws -> Run {
    let output = "\(path).out"
    let errors = "\(path).err"
    defer { for file in [output, errors] { unlink(file) } }
    let process = try start(
      executable, arguments, output: handle(output), errors: handle(errors), environment: environment)
    process.waitUntilExit()
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      bytes: Array(try Data(contentsOf: URL(fileURLWithPath: output))),
      errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self))
  }

  /// Starts `packstore` and returns at once.
  func start(
    _ arguments: [String], output: FileHandle, errors: FileHandle, environment: [String: String] = [:]
  ) throws -> Process {
    try start(packstoreURL, arguments, output: output, errors: errors, environment: environment)
  }

  /// The arguments, with `--new-key` if the command signs with a key file that is missing.
  private func makingKey(_ arguments: [String]) -> [String] {
    guard makesKeys, let command = arguments.first, ["publish", "export", "package", "delta"].contains(command),
      let option = arguments.firstIndex(of: "--key"), option + 1 < arguments.count
    else { return arguments }
    let key = arguments[option + 1]
    guard !key.contains(":"), key != "-", !exists(key), !FileManager.default.fileExists(atPath: key) else {
      return arguments
    }
    return arguments + ["--new-key"]
  }

  /// Starts a program in the playground and returns at once. `packstore` is in its path.
  private func start(
    _ executable: URL, _ arguments: [String], output: FileHandle, errors: FileHandle,
    environment: [String: String] = [:]
  ) throws -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = executable == packstoreURL ? makingKey(arguments) : arguments
    process.currentDirectoryURL = URL(fileURLWithPath: path)
    // Nothing goes to the caches, the data and the state of the user who runs the tests.
    let folders = [
      "XDG_CACHE_HOME": "\(path)/.cache", "XDG_DATA_HOME": "\(path)/.data", "XDG_STATE_HOME": "\(path)/.state",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(folders) { $1 }.merging(environment) { $1 }
    process.environment!["PATH"]! = "\(packstoreURL.deletingLastPathComponent().path):" + process.environment!["PATH"]!
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }

  private func handle(_ file: String) throws -> FileHandle {
    let descriptor = open(file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }
}

/// The executable, in the folder of the built tests.
let packstoreURL: URL = {
  #if os(macOS)
    let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
  #else
    let tests = URL(fileURLWithPath: CommandLine.arguments[0])
  #endif
  return tests.deletingLastPathComponent().appendingPathComponent("packstore")
}()

/// Bytes that do not compress, the same each time.
func noise(_ count: Int, seed: UInt64 = 0) -> [UInt8] {
  // Words, and no closure: programs that are not optimized take long for each step.
  var words = ContiguousArray<UInt64>(repeating: 0, count: (count + 7) / 8)
  var state: UInt64 = 0x9e37_79b9_7f4a_7c15 &+ seed &* 0xbf58_476d_1ce4_e5b9
  words.withUnsafeMutableBufferPointer { words in
    var place = 0
    while place < words.count {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      words[place] = state ^ state >> 32
      place &+= 1
    }
  }
  return words.withUnsafeBytes { Array($0.prefix(count)) }
}

// MARK: - Parts that differ between runs

extension String {
  /// Dates, times, rates and catalog ids as `<date>`, `<time>`, `<rate>`, `<id>`.
  var masked: String {
    replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "<date>")
      .replacing(/\d+(\.\d)? [kMGTPE]?B\/s/, with: "<rate>")
      .replacing(/\b(\d+ ms|\d+(\.\d)? s)\b/, with: "<time>")
      .replacing(/\b[0-9a-f]{64}\b/, with: "<catalog>")
      .replacing(/\b[0-9a-f]{12}\b/, with: "<id>")
  }

  /// Stored sizes depend on the version of libzstd: sizes as `<size>`.
  var maskedSizes: String {
    replacing(/\d[\d,]*(\.\d)? [kMGTPE]?B\b/, with: "<size>").replacing(/\d+\.\d %/, with: "<percent>")
  }
}
