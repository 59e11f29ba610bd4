import Foundation
import PackStore
import Testing

/// Going back, holding, pinning, and packs that left a history.
@Suite struct HistoryTests {
  private static func store(in folder: borrowing TemporaryFolder, versions: ClosedRange<Int>) async throws -> Store {
    let store = try folder.store()
    for number in versions {
      let source = try folder.makeFolder("source", ["a": "\(number)"])
      try await store.install(folder: FilePath(source), as: "P")
    }
    return store
  }

  @Test func rollback() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...3)
    let now = try await store.write { transaction in try transaction.rollBack("P") }
    #expect("\(now)" == "P@2")
    #expect(try store.contents(of: "a") == Data("2".utf8))
    let snapshot = try store.makeSnapshot()
    #expect(snapshot.pack("P")?.isHeld == true)
    #expect(snapshot.versions(of: "P").map(\.number) == [2, 3])
    let source = try folder.makeFolder("source", ["a": "4"])
    await #expect(throws: PackStoreError.self) { _ = try await store.install(folder: FilePath(source), as: "P") }
    try await store.write { try $0.unpin("P") }
    let next = try await store.install(folder: FilePath(source), as: "P")
    #expect(next.version.number == 4)
  }

  @Test func heldIsAnErrorOfItsOwn() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...2)
    try await store.write { _ = try $0.rollBack("P", toVersion: 2) }
    let source = try folder.makeFolder("source", ["a": "3"])
    do {
      try await store.install(folder: FilePath(source), as: "P")
      Issue.record("a held pack moved")
    } catch let error as PackStoreError {
      #expect(error.code == .held)
      #expect(error.subject?.name == "P")
    }
  }

  @Test func pins() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...1)
    try await store.write { try $0.pin("P", version: 1) }
    for number in 2...4 {
      let source = try folder.makeFolder("source", ["a": "\(number)"])
      try await store.install(folder: FilePath(source), as: "P")
    }
    let versions = try store.makeSnapshot().versions(of: "P")
    #expect(versions.map(\.number) == [4, 3, 1])
    #expect(versions.map(\.isPinned) == [false, false, true])
  }

  @Test func removedPacks() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...2)
    try await store.write { try $0.remove("P", keepsHistory: true) }
    var snapshot = try store.makeSnapshot()
    #expect(snapshot.packs.isEmpty)
    #expect(snapshot.pack("P") == nil)
    #expect(snapshot.removedPacks.map(\.id) == ["P"])
    #expect(snapshot.removedPacks.map(\.isRemoved) == [true])
    #expect(snapshot.versions(of: "P").map(\.number) == [2, 1])
    let now = try await store.write { try $0.rollBack("P") }
    #expect(now.number == 2)
    snapshot = try store.makeSnapshot()
    #expect(snapshot.removedPacks.isEmpty)
    #expect(try store.contents(of: "a") == Data("2".utf8))
  }

  /// Errors name the kept versions in a form that a command accepts, also for a removed pack.
  @Test func errorsNameTheKeptVersions() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...2)
    func refusal(_ body: @Sendable (inout Transaction) throws -> Void) async throws -> PackStoreError {
      let error = await #expect(throws: PackStoreError.self) { try await store.write { try body(&$0) } }
      #expect(error?.code == .notFound && error?.subject?.pack == "P" && error?.suggestions == ["P@1", "P@2"])
      return try #require(error)
    }
    #expect(
      try await refusal { _ = try $0.rollBack("P", toVersion: 7) }.finding == "version 'P@7': not kept (kept: 1, 2)")
    try await store.write { try $0.remove("P", keepsHistory: true) }
    #expect(
      try await refusal { _ = try $0.rollBack("P", toVersion: 7) }.finding == "version 'P@7': not kept (kept: 1, 2)")
    #expect(try await refusal { try $0.pin("P", version: 7) }.finding == "version 'P@7': not kept (kept: 1, 2)")
    let removed = try await refusal { try $0.setPriority(1, of: "P") }
    #expect(removed.finding == "pack 'P': removed (kept: 1, 2)")
    let other = await #expect(throws: PackStoreError.self) { try await store.write { _ = try $0.rollBack("PP") } }
    #expect(other?.finding == "pack 'PP': not in the store (packs: P)")
    try await store.write { _ = try $0.rollBack("P", toVersion: 1) }
    #expect(try store.contents(of: "a") == Data("1".utf8))
  }

  @Test func whatIsNotThere() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder, versions: 1...1)
    for version in [nil, 0, 7] as [UInt64?] {
      await #expect(throws: PackStoreError.self) {
        try await store.write { transaction in _ = try transaction.rollBack("P", toVersion: version) }
      }
    }
    #expect(try store.makeSnapshot().pack("P")?.isHeld == false)
  }
}
