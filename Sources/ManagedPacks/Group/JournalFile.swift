/// Where a group keeps its ``Journal``. One process changes it at a time; after a crash it is the old or the new one.
package struct JournalFile: Sendable {
  private static let name = "journal"
  private let folder: FilePath
  /// Nil: a process that has the lock is waited for however long it takes.
  private let watch: AgentWatch?

  package init(in folder: GroupFolder) { self.init(in: folder, watch: nil) }

  /// - Parameter watch: told when another process has the lock.
  init(in folder: GroupFolder, watch: AgentWatch?) {
    self.folder = folder.home
    self.watch = watch
  }

  /// Reads the journal: an empty one where there is none, or none that can be understood.
  ///
  /// - Throws: ``ManagedPacksError`` `newerJournal`; `wrongKind` for what is no file, `ioError`.
  package func read() throws -> Journal {
    do {
      let file = try InputFile(Self.name, in: folder)
      return try Journal(decoding: file.contents(limit: Journal.byteCountLimit)) ?? Journal()
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) {
      return Journal()
    }
  }

  /// Changes the journal, while no other process does.
  @discardableResult
  package func update<Result>(_ body: (inout Journal) throws -> Result) throws -> Result {
    let lock = try watch?.over { try takeLock() } ?? takeLock()
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
