import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// A site with two channels, labels, a delta and a kept version, which tests copy and move.
struct MovingSite {
  let folder: TemporaryFolder
  let key: SiteKey
  let beta: SiteChannel

  init(signedBy key: SiteKey = SiteKey()) throws {
    folder = try TemporaryFolder()
    self.key = key
    beta = try SiteChannel("beta")
  }

  func path(_ name: String) -> FilePath { FilePath(folder.path(name)) }

  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 3, deltaCount: 1, gracePeriod: .zero)

  func store(_ content: String, label: String? = nil) async throws -> Store {
    let store = try Store(at: path("store"))
    var options = Store.InstallOptions()
    options.label = try label.map { try VersionLabel($0) }
    let files = ["file": Data(content.utf8), "more": noise(40_000, seed: 3)]
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P", options: options)
    return store
  }

  func publish(_ content: String, to site: FilePath, label: String? = nil) async throws {
    try await Site(at: site).publish(
      from: try await store(content, label: label), signedBy: key, options: Self.options)
  }

  /// Three versions: the last one on `live`, the first one on `beta`.
  func make(_ name: String = "site") async throws -> FilePath {
    let site = path(name)
    try await publish("one", to: site, label: "1.0")
    try await Site(at: site).promote("P", version: 1, to: beta, signedBy: key)
    for content in ["two", "three"] { try await publish(content, to: site, label: content) }
    return site
  }

  /// The files of a folder that clients may fetch, without roots.
  func files(_ site: FilePath) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in FileManager.default.enumerator(atPath: site.string)?.compactMap({ $0 as? String }) ?? [] {
      guard let path = SitePath(name), !path.isRoot else { continue }
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(site)/\(name)"))
    }
    return files
  }

  func root(_ site: FilePath, _ channel: SiteChannel = .live) throws -> SignedSiteRoot {
    let name = "\(SitePath.root(channel))"
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(site)/\(name)")))
    return try SignedSiteRoot(decoding: bytes, file: name)
  }

  func root(_ bucket: SimulatedBucket, _ channel: SiteChannel = .live) throws -> SignedSiteRoot {
    let object = try #require(bucket.object(.file(.root(channel))))
    return try SignedSiteRoot(decoding: object.bytes, file: "root")
  }

  /// Whether all files that the roots of a folder refer to have their content; true if it has no root yet.
  func serves(_ site: FilePath) async throws -> Bool {
    guard FileManager.default.fileExists(atPath: "\(site)/root") else { return true }
    var options = SiteVerification.Options()
    options.isDeep = true
    return try await SiteVerification(
      .served(RemoteSiteLocation(site.string), channels: RemoteSiteLocation.channels(inFolder: site)), options: options
    ).run().isSound
  }
}

/// A storage that allows listing.
final class ListingStorage: ObjectStorage {
  private let bucket: SimulatedBucket
  private let storage: SimulatedStorage
  var location: String { storage.location }

  init(_ bucket: SimulatedBucket) {
    self.bucket = bucket
    storage = SimulatedStorage(bucket)
  }

  func list() async throws -> [String: UInt64]? {
    bucket.state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.objects.filter { $0.key.space == .shared }
          .map { ($0.key.path, UInt64($0.value.bytes.count)) })
    }
  }

  func now() async throws -> Int64 { try await storage.now() }
  func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject? { try await storage.read(key, limit: limit) }
  func examine(_ key: ObjectKey) async throws -> ObjectFacts? { try await storage.examine(key) }
  func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool { try await storage.delete(key, latest: latest) }
  func close() async { await storage.close() }

  func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]? {
    try await storage.read(key, in: range)
  }

  func write(
    _ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?
  ) async throws -> WriteOutcome { try await storage.write(body, to: key, condition, latest: latest) }

  func fetch(
    _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool { try await storage.fetch(key, byteCount: byteCount, restart: restart, body) }
}
