/// What a store knows of the versions that it keeps and that is no part of them: the file `installs` in its folder, a line for each
/// ``Installation``.
///
/// Versions that were made here and have no note need no line: their own date says it all.
///
/// States of an entry: it is written before the commit that brings its version, so that no crash loses it; from the commit on
/// readers see it, as an entry of a version that is kept; after the commit that drops its version it is taken out. An entry of
/// no kept version means nothing, and goes with the next change.
///
/// Invariants
///   1. No folder of a site has the file: publications write none, and copies of sites do not take it.
///   2. A commit is never refused for what the file holds: of a damaged one, the lines that are whole count. Where it cannot be
///      written, only a commit with a note is.
package struct InstallLog: Sendable {
  private static let name = "installs"
  private static let lockName = "installs.lock"
  /// What no site may have in its folder.
  package static let fileNames = [name, lockName]
  private static let byteCountLimit = 16 << 20
  private let store: FilePath

  package init(inStore store: FilePath) { self.store = store }

  /// What the file says.
  package struct Content: Sendable {
    var installations: [Installation.Key: Installation] = [:]
    /// There is more than was understood.
    package var isDamaged = false

    package init(isDamaged: Bool = false) { self.isDamaged = isDamaged }

    /// What is known of a version.
    package func installation(of version: PackVersion) -> Installation? { installations[Installation.Key(version)] }
  }

  /// - Throws: `wrongKind` when the file is none; `ioError`.
  package func read() throws -> Content {
    let bytes: [UInt8]
    do {
      bytes = try InputFile(Self.name, in: store).contents(limit: Self.byteCountLimit)
    } catch let error as PackStoreError where error.code == .notFound {
      return Content()
    } catch let error as PackStoreError where error.code == .corrupt {
      return Content(isDamaged: true)
    }
    return Self.decode(bytes)
  }

  static func decode(_ bytes: [UInt8]) -> Content {
    var content = Content()
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      if let installation = Installation(line: line) {
        content.installations[installation.key] = installation
      } else {
        content.isDamaged = true
      }
    }
    content.isDamaged = content.isDamaged || bytes.last ?? 10 != 10
    return content
  }

  /// In bytewise order of lines.
  static func encode(_ installations: some Sequence<Installation>) -> [UInt8] {
    let lines = installations.map(\.line).sorted { $0.lexicographicallyPrecedes($1) }
    return Array(lines.map { $0 + [UInt8(ascii: "\n")] }.joined())
  }

  private func lock(waits: Bool) throws -> FileLock {
    try FileLock(
      FilePlace(Self.lockName, in: store), waits: waits,
      reason: "another process is changing the notes on its versions", about: .store(store.string))
  }

  private func write(_ installations: [Installation.Key: Installation]) throws {
    guard !installations.isEmpty else { return try removeFile(FilePlace(Self.name, in: store)) }
    try replaceFile(Self.name, in: store, by: Self.encode(installations.values), draft: "tmp/\(Self.name)")
  }

  /// Adds what a commit is about to bring. Of a version that is there already, what is known stays, but for a new note.
  ///
  /// - Parameter versions: those that are kept so far. What is known of others is left from commits that failed.
  /// - Returns: the lock to hold until the commit is done, so that no other process takes out what is not kept yet.
  /// - Throws: `busy`, `readOnly`, `noSpace`, `ioError`; `CancellationError`.
  func add(_ new: [Installation], keeping versions: () throws -> [PackVersion], waits: Bool) throws -> FileLock {
    let lock = try lock(waits: waits)
    let kept = Set(try versions().map(Installation.Key.init))
    var installations = try read().installations.filter { kept.contains($0.key) }
    for installation in new {
      var known = installations[installation.key] ?? installation
      known.note = installation.note ?? known.note
      installations[installation.key] = known
    }
    try write(installations)
    return lock
  }

  /// Takes out what is known of versions that are not kept. Does nothing while another process changes the file.
  ///
  /// - Parameter lock: if this process has it.
  func prune(keeping versions: () throws -> [PackVersion], _ lock: FileLock?) throws {
    guard pathExists(store.appending(Self.name)) else { return }
    let lock = try lock ?? self.lock(waits: false)
    defer { withExtendedLifetime(lock) {} }
    let before = try read().installations
    let kept = Set(try versions().map(Installation.Key.init))
    let after = before.filter { kept.contains($0.key) }
    if after != before { try write(after) }
  }
}
