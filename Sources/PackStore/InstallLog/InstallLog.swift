/// Records about kept versions that are not part of the versions: the file `installs` in the store's folder, with a line for each
/// ``Installation``.
///
/// A version that was created here and has no note needs no line: its own date is sufficient.
///
/// States of an entry: it is written before the commit of its version, so that no crash loses it. After the commit, readers see it
/// as the entry of a kept version. After the commit that drops its version, it is deleted. An entry without a kept version is
/// ignored, and deleted by the next change.
///
/// Invariants
///   1. No folder of a site contains the file: publications do not write it, and copies of sites do not include it.
///   2. The contents of the file never prevent a commit: of a damaged file, the intact lines are used. If it cannot be written,
///      only a commit with a note fails.
package struct InstallLog: Sendable {
  private static let name = "installs"
  private static let lockName = "installs.lock"
  /// Files that a site's folder must not contain.
  package static let fileNames = [name, lockName]
  private static let byteCountLimit = 16 << 20
  private let store: FilePath

  package init(inStore store: FilePath) { self.store = store }

  /// The contents of the file.
  package struct Content: Sendable {
    var installations: [Installation.Key: Installation] = [:]
    /// Whether parts of the file were not understood.
    package var isDamaged = false

    package init(isDamaged: Bool = false) { self.isDamaged = isDamaged }

    /// Returns the record of a version.
    package func installation(of version: PackVersion) -> Installation? { installations[Installation.Key(version)] }
  }

  /// - Throws: `wrongKind` if it is not a file; `ioError`.
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

  /// Encodes installations, in bytewise order of lines.
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

  /// Adds the versions of a coming commit. The record of an already kept version stays, except for a new note.
  ///
  /// - Parameter versions: the versions kept so far. Records of other versions are leftovers of failed commits.
  /// - Returns: the lock to hold until the commit ends, so that no other process deletes records of versions that are not kept yet.
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

  /// Deletes records of versions that are not kept. Does nothing while another process changes the file.
  ///
  /// - Parameter lock: the lock, if this process has it.
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
