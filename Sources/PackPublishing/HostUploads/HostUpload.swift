#if Delivery
  import Foundation
  import NIOHTTP1
  package import PackDelivery
  import PackFormats
  import PackStore

  /// Uploads an archive to `packstore-host`, and sends only the ranges that the host lacks. The same upload again continues.
  package struct HostUpload: Sendable {
    package struct Options: Sendable {
      /// The bundle id of the app; `nil` if the token may use exactly one app.
      package var app: String?

      /// The identifier of the pack; `nil` for the pack in the archive.
      package var pack: String?

      /// Whether to wait until the host has processed the version.
      package var waits = false

      package init() {}
    }

    package struct Result: Sendable {
      package let pack: String

      /// The number that the host chose.
      package let version: UInt64

      /// The id of the version in the host.
      package let id: String

      /// `PROCESSING`, or `COMPLETE` or `FAILED` if the caller waits.
      package let state: String

      /// The reasons of FAILED.
      package let errors: [String]
      package let byteCount: UInt64
      package let sentByteCount: UInt64
    }

    private let client: HostClient
    private let file: FilePath
    private let options: Options

    package init(_ file: FilePath, to client: HostClient, options: Options = .init()) {
      (self.client, self.file, self.options) = (client, file, options)
    }

    /// Parts that are sent at the same time.
    private static let width = 4
    private static let rowLimit = 100_000

    /// Versions that are created for one upload.
    private static let versionLimit = 5

    /// - Parameter progress: called after each part with the sent bytes and the bytes to send.
    /// - Throws: `badResponse` with the host's reason; errors of reading the archive.
    package func run(_ progress: @escaping @Sendable (UInt64, UInt64) -> Void = { _, _ in }) async throws -> Result {
      let archive = try InputFile(file), byteCount = try archive.byteCount
      let name = try options.pack ?? Self.packName(of: archive)
      let sha256 = try Self.digest(of: archive)
      let pack = try await pack(name, in: try await app())
      let (version, upload) = try await reserve(
        archive, Request(byteCount: byteCount, sha256: sha256, table: Self.table(of: archive)), in: pack)
      guard let id = upload["id"]?.string else { throw Self.unexpected("upload") }
      let sent = try await send(archive, upload, progress)
      if sent.isClosed { try await requireCommitted(id) }
      _ = try await client.send(
        .PATCH, "/v1/backgroundAssetUploadFiles/\(id)",
        Self.body("backgroundAssetUploadFiles", id: id, [("uploaded", "true")]))
      return try await result(version, name, byteCount, sent.byteCount)
    }

    // MARK: - The archive

    private static func packName(of archive: InputFile) throws -> String {
      guard PackFileKind(archive.place.path) == .archive else {
        var error = PackStoreError(.wrongKind, "not a pack archive", file: archive.place.text)
        error.specificRemedy = "name the pack with '--pack'"
        throw error
      }
      let index = try ArchiveIndex(byteCount: try archive.byteCount, file: archive.place.text) { offset, count in
        try archive.bytes(at: offset, upTo: count)
      }
      guard let root = index.members[.root(.live)], root.byteCount <= UInt64(SiteRoot.byteCountLimit),
        let pack = try SignedSiteRoot(
          decoding: archive.bytes(at: root.offset, upTo: Int(root.byteCount)), file: archive.place.text
        ).root.packs.first
      else { throw PackStoreError(.corrupt, "the archive has no pack", file: archive.place.text) }
      return pack.id.name
    }

    /// Other archives than packs have no table: the whole file is sent.
    private static func table(of archive: InputFile) -> [UInt8] {
      (try? ArchiveFrames(of: archive).table(rowLimit: rowLimit)) ?? []
    }

    private static func digest(of archive: InputFile) throws -> String {
      var builder = DigestBuilder(), offset: UInt64 = 0
      while true {
        try Task.checkCancellation()
        let bytes = try archive.bytes(at: offset, upTo: 1 << 20)
        guard !bytes.isEmpty else { return builder.finish().hex }
        bytes.withUnsafeBytes { builder.update($0) }
        offset += UInt64(bytes.count)
      }
    }

    // MARK: - Objects of the host

    private func app() async throws -> String {
      let filter = options.app.map { "?filter%5BbundleId%5D=\(Self.escaped($0))" } ?? "?limit=2"
      let apps = try await client.send(.GET, "/v1/apps" + filter).body?["data"]?.array ?? []
      guard let id = apps.first?["id"]?.string, apps.count == 1 else {
        let reason = apps.isEmpty ? "the token permits no such app" : "the token permits several apps"
        var error = DeliveryError(.badResponse, reason)
        error.specificRemedy = "name an app of the token's team with '--app'"
        throw error
      }
      return id
    }

    private func pack(_ name: String, in app: String) async throws -> String {
      let found = try await client.send(
        .GET, "/v1/apps/\(app)/backgroundAssets?filter%5BassetPackIdentifier%5D=\(Self.escaped(name))")
      if let id = found.body?["data"]?.array?.first?["id"]?.string { return id }
      let created = try await client.send(
        .POST, "/v1/backgroundAssets",
        Self.body("backgroundAssets", [("assetPackIdentifier", Self.text(name))], [("app", "apps", app)]))
      guard let id = created.body?["data"]?["id"]?.string else { throw Self.unexpected("pack") }
      return id
    }

    private struct Request {
      let byteCount: UInt64
      let sha256: String
      let table: [UInt8]
    }

    /// Continues the newest version that waits for this file, or creates a version.
    private func reserve(
      _ archive: InputFile, _ request: Request, in pack: String
    ) async throws -> (version: String, upload: JSONValue) {
      let waiting = try await client.send(
        .GET, "/v1/backgroundAssets/\(pack)/versions?filter%5Bstate%5D=AWAITING_UPLOAD&sort=-version&limit=1")
      if let version = waiting.body?["data"]?.array?.first?["id"]?.string,
        let upload = try await reserve(archive, request, version: version)
      {
        return (version, upload)
      }
      for _ in 0..<Self.versionLimit {
        let created = try await client.send(
          .POST, "/v1/backgroundAssetVersions",
          Self.body("backgroundAssetVersions", [], [("backgroundAsset", "backgroundAssets", pack)]))
        guard let version = created.body?["data"]?["id"]?.string else { throw Self.unexpected("version") }
        // Another upload to the pack may reserve its file for the new version first.
        if let upload = try await reserve(archive, request, version: version) { return (version, upload) }
      }
      throw Self.unexpected("version")
    }

    /// - Returns: `nil` if another file is reserved for the version.
    private func reserve(_ archive: InputFile, _ request: Request, version: String) async throws -> JSONValue? {
      let frames = Data(request.table).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
      let answer = try await client.send(
        .POST, "/packstore/v1/uploads",
        Self.body(
          "uploads",
          [
            ("fileName", Self.text(archive.place.path.lastComponent?.string ?? "archive")),
            ("fileSize", "\(request.byteCount)"), ("sha256", Self.text(request.sha256)), ("frames", Self.text(frames)),
          ], [("backgroundAssetVersion", "backgroundAssetVersions", version)]), accepting: "STATE_ERROR.ALREADY_EXISTS")
      return answer.status == 201 ? answer.body?["data"] : nil
    }

    // MARK: - Parts

    private struct Part: Sendable {
      let url: String
      let range: Range<UInt64>

      init?(_ operation: JSONValue, limit: UInt64) {
        guard let url = operation["url"]?.string, let offset = operation["offset"]?.integer(UInt64.self),
          let length = operation["length"]?.integer(UInt64.self), offset <= limit, length <= limit - offset
        else { return nil }
        (self.url, range) = (url, offset..<(offset + length))
      }
    }

    /// Fails unless another upload of the same file committed it.
    private func requireCommitted(_ id: String) async throws {
      let answer = try await client.send(.GET, "/packstore/v1/uploads/\(id)")
      let state = answer.body?["data"]?["attributes"]?["state"]?.string
      guard state == "UPLOAD_COMPLETE" || state == "COMPLETE" else {
        var error = DeliveryError(.badResponse, "the host closed the upload, whose state is \(state ?? "unknown")")
        error.specificRemedy = "repeat the command: it begins another upload"
        throw error
      }
    }

    /// - Returns: the sent bytes, and whether the upload was closed before all parts were sent.
    private func send(
      _ archive: InputFile, _ upload: JSONValue, _ progress: @escaping @Sendable (UInt64, UInt64) -> Void
    ) async throws -> (byteCount: UInt64, isClosed: Bool) {
      let operations = upload["attributes"]?["uploadOperations"]?.array ?? [], limit = try archive.byteCount
      let parts = operations.compactMap { Part($0, limit: limit) }
      guard parts.count == operations.count else { throw Self.unexpected("upload operation") }
      let total = parts.reduce(UInt64(0)) { $0 + UInt64($1.range.count) }
      var rest = parts[...], sent: UInt64 = 0
      progress(0, total)
      let isClosed = try await withThrowingTaskGroup(of: UInt64?.self) { group in
        func start() {
          guard let part = rest.popFirst() else { return }
          group.addTask { [client] in
            try await client.put(archive, part.range, to: part.url) ? UInt64(part.range.count) : nil
          }
        }
        for _ in 0..<Self.width { start() }
        while let next = try await group.next() {
          guard let count = next else {
            group.cancelAll()
            return true
          }
          sent += count
          progress(sent, total)
          start()
        }
        return false
      }
      return (sent, isClosed)
    }

    // MARK: - The result

    /// The host permits a token 3500 requests in an hour, also if several uploads wait.
    private static let longestPollInterval = Duration.seconds(10)

    private func result(_ id: String, _ pack: String, _ byteCount: UInt64, _ sent: UInt64) async throws -> Result {
      var interval = Duration.seconds(1)
      while true {
        let answer = try await client.send(.GET, "/v1/backgroundAssetVersions/\(id)")
        let attributes = answer.body?["data"]?["attributes"]
        guard let state = attributes?["state"]?.string,
          let number = attributes?["version"]?.string.flatMap({ UInt64($0) })
        else { throw Self.unexpected("version") }
        if !options.waits || state == "COMPLETE" || state == "FAILED" {
          let errors = attributes?["stateDetails"]?["errors"]?.array ?? []
          return Result(
            pack: pack, version: number, id: id, state: state,
            errors: errors.map { "\($0["code"]?.string ?? ""): \($0["description"]?.string ?? "")" },
            byteCount: byteCount, sentByteCount: sent)
        }
        try await Task.sleep(for: interval)
        interval = min(interval * 2, Self.longestPollInterval)
      }
    }

    // MARK: - JSON

    private static func unexpected(_ object: String) -> DeliveryError {
      DeliveryError(.badResponse, "the host's answer has no valid \(object)")
    }

    /// Escapes a value of a query. Raw brackets elsewhere in a URL would make the URL parser escape it again.
    private static func escaped(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private static func text(_ text: String) -> String { String(decoding: canonicalJSON(text), as: UTF8.self) }

    /// - Parameter attributes: names and JSON values.
    private static func body(
      _ type: String, id: String? = nil, _ attributes: [(String, String)],
      _ relationships: [(name: String, type: String, id: String)] = []
    ) -> [UInt8] {
      var parts = ["\"type\":\(text(type))"]
      if let id { parts.append("\"id\":\(text(id))") }
      parts.append("\"attributes\":{\(attributes.map { "\(text($0.0)):\($0.1)" }.joined(separator: ","))}")
      let linkages = relationships.map {
        "\(text($0.name)):{\"data\":{\"type\":\(text($0.type)),\"id\":\(text($0.id))}}"
      }
      parts.append("\"relationships\":{\(linkages.joined(separator: ","))}")
      return Array("{\"data\":{\(parts.joined(separator: ","))}}".utf8)
    }
  }
#endif
