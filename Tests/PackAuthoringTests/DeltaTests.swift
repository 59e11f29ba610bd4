import Foundation
import PackAuthoring
import PackFormats
import PackStore
import Synchronization
import Testing

/// Deltas by way of the Swift API.
@Suite struct DeltaTests {
  private static func content(_ version: Int) -> [String: Data] {
    let text = Data((0..<20_000).flatMap { "line \($0) of \($0 % 97 == 0 ? version : 0)\n".utf8 })
    return ["text": text, "folder/small": Data("version \(version)".utf8)]
  }

  /// A store with versions 1 and 2, and one with version 1.
  private static func stores(in folder: TemporaryFolder) async throws -> (source: Store, target: Store) {
    let source = try folder.store("source"), target = try folder.store("target")
    for version in 1...2 {
      try await source.install(folder: FilePath(folder.makeFolder("content", content(version))), as: "P")
      if version == 1 { try await target.install(folder: FilePath(folder.path("content")), as: "P") }
    }
    return (source, target)
  }

  @Test func madeAndApplied() async throws {
    let folder = try TemporaryFolder()
    let (source, target) = try await Self.stores(in: folder)
    let key = SiteKey(), file = folder.path("1-2.delta"), steps = Mutex<[Int]>([])
    let made = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(file), signedBy: key) {
      progress in
      #expect((0...1).contains(progress.fraction))
      steps.withLock { $0.append(progress.byteCount) }
    }
    let counts = steps.withLock { $0 }
    #expect(!counts.isEmpty && counts == counts.sorted())
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int == made.byteCount)
    let delta = try VerifiedDelta(FilePath(file))
    #expect(delta.signer == key.publicKey && delta.info == made.info)
    #expect("\(delta.info)" == "P@1 to 2" && made.byteCount < delta.info.newByteCount / 10)

    let result = try await target.apply(delta: FilePath(file), trusting: .key(key.publicKey), options: Self.adopting)
    let version = try #require(try source.makeSnapshot().pack("P")?.version)
    #expect(result.version.catalog == version.catalog && result.version.number == 2 && !result.isUnchanged)
    #expect(result.newByteCount == delta.info.newByteCount)
    #expect(try target.contents(of: "folder/small") == Data("version 2".utf8))
    #expect(try await target.verify(deep: true).isSound)
    #expect(try await target.apply(delta: FilePath(file), trusting: .packOrigin).isUnchanged)
  }

  /// The pack was added in both stores: the target's has to be taken over.
  private static var adopting: Store.ApplyOptions {
    var options = Store.ApplyOptions()
    options.adopts = true
    return options
  }

  @Test func trust() async throws {
    let folder = try TemporaryFolder()
    let (source, target) = try await Self.stores(in: folder)
    let signed = folder.path("signed"), bare = folder.path("bare"), key = SiteKey()
    _ = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(signed), signedBy: key)
    _ = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(bare))
    #expect(try VerifiedDelta(FilePath(bare)).signer == nil)
    for (file, trusted) in [(signed, SiteKey().publicKey), (bare, key.publicKey)] {
      let error = await #expect(throws: PackStoreError.self) {
        try await target.apply(delta: FilePath(file), trusting: .key(trusted))
      }
      #expect(error?.code == .untrusted)
    }
    // By any key: the pack was added here, and belongs to no other origin.
    for trust in [VerifiedDelta.Trust.anyone, .packOrigin, .key(key.publicKey)] {
      let error = await #expect(throws: PackStoreError.self) {
        try await target.apply(delta: FilePath(signed), trusting: trust)
      }
      #expect(error?.code == .otherOrigin)
    }
    let unsigned = await #expect(throws: PackStoreError.self) {
      try await target.apply(delta: FilePath(bare), trusting: .packOrigin)
    }
    #expect(unsigned?.code == .untrusted)
    #expect(try target.makeSnapshot().pack("P")?.version.number == 1)
    #expect(try target.makeSnapshot().pack("P")?.origin == .local)
  }

  /// A signature belongs to the header of its delta, and nothing else may follow one.
  @Test func whatFollows() async throws {
    let folder = try TemporaryFolder()
    let (source, _) = try await Self.stores(in: folder)
    let there = folder.path("there"), back = folder.path("back"), bare = folder.path("bare"), key = SiteKey()
    let made = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(there), signedBy: key)
    _ = try await source.makeDelta(of: "P", fromVersion: 2, toVersion: 1, file: FilePath(back), signedBy: key)
    _ = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(bare))
    let delta = try Array(Data(contentsOf: URL(fileURLWithPath: there))), unsigned = delta.prefix(made.info.byteCount)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: bare))) == Array(unsigned))
    let signature = Array(delta.dropFirst(made.info.byteCount)),
      other = try Array(Data(contentsOf: URL(fileURLWithPath: back)).suffix(signature.count))
    let tails: [[UInt8]] = [
      other, signature.dropLast(), signature + [0], [0], Array(repeating: 0, count: signature.count),
    ]
    for tail in tails {
      try Data(unsigned + tail).write(to: URL(fileURLWithPath: there))
      let error = #expect(throws: PackStoreError.self) { try VerifiedDelta(FilePath(there)) }
      #expect(error?.code == .untrusted, "\(tail.count) bytes")
    }
  }

  @Test func whatIsWrong() async throws {
    let folder = try TemporaryFolder()
    let (source, target) = try await Self.stores(in: folder)
    let file = folder.path("delta")
    let missing = #expect(throws: PackStoreError.self) { try VerifiedDelta(FilePath(file)) }
    let unkept = await #expect(throws: PackStoreError.self) {
      try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 9, file: FilePath(file))
    }
    let nowhere = await #expect(throws: PackStoreError.self) {
      try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(folder.path("no/folder")))
    }
    let codes = [missing?.code, unkept?.code, nowhere?.code]
    #expect(codes == [.notFound, .notFound, .ioError])
    #expect(!FileManager.default.fileExists(atPath: file))

    _ = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(file))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: file))
    let error = await #expect(throws: PackStoreError.self) {
      try await target.apply(delta: FilePath(file), trusting: .anyone, options: Self.adopting)
    }
    #expect(error?.code == .corrupt && error?.subject?.name == file)
    #expect(error?.description.contains("publisher") == true, "a damaged delta is no damaged store")
  }

  @Test func cancelling() async throws {
    let folder = try TemporaryFolder()
    let (source, target) = try await Self.stores(in: folder)
    let file = folder.path("delta")
    _ = try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(file))
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) {
        try await source.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: FilePath(folder.path("other")))
      }
      await #expect(throws: CancellationError.self) {
        try await target.apply(delta: FilePath(file), trusting: .anyone)
      }
    }.value
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == [
        "content", "delta", "source", "target",
      ])
  }
}
