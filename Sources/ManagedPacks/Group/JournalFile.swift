/// The file of a group's ``Journal``. One process changes it at a time; after a crash it contains the old or the new journal.
package struct JournalFile: Sendable {
  private static let name = "journal"
  private let folder: FilePath
  /// `nil` to wait without a limit for a process that holds the lock.
  private let observer: LockWait.Observer?

  package init(in folder: GroupFolder) { self.init(in: folder, observer: nil) }

  /// - Parameter observer: notified when another process holds the lock.
  init(in folder: GroupFolder, observer: LockWait.Observer?) {
    self.folder = folder.home
    self.observer = observer
  }

  /// Reads the journal. Returns an empty one if the file is missing or damaged.
  ///
  /// - Throws: ``ManagedPacksError`` `newerJournal`; `PackStoreError` `wrongKind` if it is not a file, `ioError`.
  package func read() throws -> Journal {
    do {
      let file = try InputFile(Self.name, in: folder)
      return try Journal(decoding: file.contents(limit: Journal.byteCountLimit)) ?? Journal()
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) {
      return Journal()
    }
  }

  /// Changes the journal under its lock.
  @discardableResult
  package func update<Result>(_ body: (inout Journal) throws -> Result) throws -> Result {
    let lock = try LockWait.$observer.withValue(observer ?? LockWait.observer) { try takeLock() }
    defer { withExtendedLifetime(lock) {} }
    let old = try read()
    var new = old
    let result = try body(&new)
    if new != old { try replaceFile(Self.name, in: folder, by: new.encode(), draft: "\(Self.name).draft") }
    return result
  }

  private func takeLock() throws -> FileLock {
    try FileLock(
      FilePlace("\(Self.name).lock", in: folder), waits: true, reason: "another process is changing the group's journal"
    )
  }
}
