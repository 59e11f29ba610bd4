import Foundation

/// Measures an update by the publisher and the client. Runs each way of updating once.
struct Update {
  private let packstore: PackStoreProgram
  private let store: String
  private let site: String
  private let key: String
  private let work: TemporaryFolder
  private static let pack = "P"

  init(packstore: PackStoreProgram, in work: TemporaryFolder) {
    self.packstore = packstore
    self.work = work
    store = "\(work.path)/store"
    site = "\(work.path)/site"
    key = "\(work.path)/site.key"
  }

  func measure(from old: String, to new: String) throws -> UpdateReport {
    let sizes = try [old, new].map { try FolderScan.byteCount(below: $0) }
    try FreeSpace.require(6 * sizes.max()!, in: work.path)
    let first = try publish(old)
    let client = "\(work.path)/client"
    var ways = [try pull(client, "install the old version", first)]
    try FileManager.default.copyItem(atPath: client, toPath: "\(client)-old")
    let second = try publish(new)
    ways.append(try pull(client, "update by ranges", second))
    for level in ["fast", "default", "best"] { ways.append(try delta(level, for: "\(client)-old")) }
    return UpdateReport(
      environment: Environment(), fileSystem: FileSystem.name(of: work.path), oldByteCount: sizes[0],
      newByteCount: sizes[1], ways: ways)
  }

  /// Adds a version to the publisher's store and publishes it without deltas, which are created separately.
  private func publish(_ version: String) throws -> PackStoreProgram.Answer {
    note("publishing a version")
    try packstore.run("keygen", key)
    try packstore.run("add", store, version, "--pack", Self.pack)
    return try packstore.run("publish", store, site, "--key", key, "--deltas", "0")
  }

  private func pull(_ client: String, _ name: String, _ published: PackStoreProgram.Answer) throws
    -> UpdateReport.Method
  {
    note(name)
    let pulled = try packstore.run("pull", client, site)
    try check(client)
    return .init(
      name: name, fetchedByteCount: pulled.wireBytes ?? 0, metadataByteCount: pulled.packs?.first?.metadataBytes,
      requestCount: pulled.requests, makeSeconds: published.seconds ?? 0, applySeconds: pulled.seconds ?? 0,
      newStoredByteCount: pulled.packs?.first?.newStoredBytes)
  }

  /// Measures an update by a delta.
  ///
  /// - Parameter client: the store of a client with the old version. It is not changed.
  private func delta(_ level: String, for client: String) throws -> UpdateReport.Method {
    let name = "update by a delta, \(level)"
    note(name)
    let (file, updated) = ("\(work.path)/delta", "\(work.path)/updated")
    let made = try packstore.run(
      "delta", site, "\(Self.pack)@1", "\(Self.pack)@2", "-o", file, "--level", level, "--key", key)
    try FileManager.default.copyItem(atPath: client, toPath: updated)
    defer { for path in [file, updated] { try? FileManager.default.removeItem(atPath: path) } }
    let applied = try packstore.run("apply", updated, file, "--trust", made.publicKey ?? "")
    try check(updated)
    return .init(
      name: name, fetchedByteCount: made.bytes ?? 0, makeSeconds: made.seconds ?? 0,
      applySeconds: applied.seconds ?? 0, newStoredByteCount: applied.newStoredBytes)
  }

  /// Fails unless a client has the publisher's current version with all bytes.
  private func check(_ client: String) throws {
    try packstore.run("verify", client, "--deep")
    let (own, expected) = try (catalog(of: client), catalog(of: store))
    guard own != nil, own == expected else { throw WrongBytes(path: Self.pack) }
  }

  private func catalog(of store: String) throws -> String? {
    try packstore.run("log", store, Self.pack).packs?.first?.versions?.first { $0.current }?.catalog
  }
}
