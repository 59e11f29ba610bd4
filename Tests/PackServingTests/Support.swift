import PackFormats

#if Serving
  import Foundation
  import HTTPTypes
  import NIOCore
  import PackAuthoring
  import PackStore
  import Testing

  @testable import PackServer
  @testable import PackServing

  /// A pack in an archive, in a store and on a site, and a server's content made of some of them.
  final class ServedFixture: Sendable {
    let path: FilePath
    let key = SiteKey()

    init() throws {
      path = FilePath(NSTemporaryDirectory()).appending("packstore-serving-\(UUID().uuidString)")
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path.string) }

    func place(_ name: String) -> FilePath { path.appending(name) }

    /// Installs a folder as the next version of a pack.
    @discardableResult
    func install(_ pack: PackID = "Tutorial", seed: UInt64 = 1, in name: String = "store") async throws -> Store {
      let folder = place("source-\(UUID().uuidString)")
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      try Data(noise(300_000, seed: seed)).write(to: URL(fileURLWithPath: folder.appending("big").string))
      try Data("text of \(pack)\n".utf8).write(to: URL(fileURLWithPath: folder.appending("text").string))
      let store = try Store(at: place(name))
      try await store.install(folder: folder, as: pack)
      return store
    }

    func export(_ pack: PackID, from store: Store, to name: String) async throws {
      var options = Site.PublishOptions()
      options.level = 1
      _ = try await store.export(.init(pack), to: place(name), signedBy: key, options: options, replacing: true)
    }

    func publish(_ store: Store, to name: String) async throws {
      var options = Site.PublishOptions()
      options.level = 1
      try await Site(at: place(name)).publish(from: store, signedBy: key, options: options)
    }

    func content(_ sources: String..., notices: @escaping @Sendable (String) -> Void = { _ in }) async throws
      -> ServedContent
    {
      let content = try ServedContent(
        sources.map { try ServedSource(place($0)) }, folder: place("server"), key: SiteKey(), tell: notices)
      await content.load()
      return content
    }

    func router(_ content: ServedContent) -> Router {
      Router(content: content, status: ServerStatus(), hosts: HostNames(["localhost", "dev.example"]), isSecure: true)
    }
  }

  extension Router {
    func get(
      _ target: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, host: String? = "localhost:8443"
    ) async -> Reply {
      await reply(to: HTTPRequest(method: method, scheme: "https", authority: host, path: target, headerFields: fields))
    }
  }

  extension Reply {
    /// The bytes of the body.
    var content: [UInt8] {
      switch body {
      case .none, .events: return []
      case .bytes(let bytes): return bytes
      case .file(let file, let range):
        var buffer = ByteBuffer()
        try? file.read(range, into: &buffer)
        return Array(buffer.readableBytesView)
      }
    }
  }

  /// Bytes that do not compress, the same each time.
  func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }
#endif
