import Foundation

/// PackStore's own ways to update: ranges of a site, published at two levels, and deltas at three.
///
/// The program is measured, not the library, as for every peer. After each update, outside the measured time, the
/// client's store is compared with the publisher's.
struct PackStoreUpdate: UpdateParticipant {
  let name = "packstore"
  let packstore: Program

  /// The first level is for comparison with peers that compress at about that level. Deltas are made from the last
  /// publication.
  private static let levels = [3, 12]
  private static let deltaLevels = ["fast", "default", "best"]
  private static let pack = "P"

  var programs: [Program] { [packstore] }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    for level in Self.levels {
      let place = "\(folder)/\(level)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      let publisher = Publisher(packstore, in: place, level: level)
      let old = try publisher.publish(trial.pair.from)
      let server = try FileServer(serving: publisher.site)
      defer { server.stop() }
      let client = Client(packstore, store: "\(place)/client")
      let install = try client.pull(from: server, of: publisher)
      report(
        row("packstore-install-\(level)", "packstore, level \(level)", old, install))

      let pristine = "\(place)/client-before"
      if level == Self.levels.last { try FileManager.default.copyItem(atPath: client.store, toPath: pristine) }
      let new = try publisher.publish(trial.pair.to)
      report(
        row(
          "packstore-ranges-\(level)", "packstore, ranges, level \(level)", new,
          try client.pull(from: server, of: publisher)))
      try FileManager.default.removeItem(atPath: client.store)
      if level == Self.levels.last { try measureDeltas(publisher, client: pristine, in: place, report) }
      try FileManager.default.removeItem(atPath: place)
    }
  }

  private func row(_ key: String, _ name: String, _ published: Publication, _ pulled: Pull) -> UpdateRow {
    UpdateRow(
      key: key, name: name, byteCount: pulled.traffic.sentByteCount,
      metadataByteCount: pulled.traffic.metadataByteCount, requestCount: pulled.traffic.requestCount,
      publishedByteCount: published.addedByteCount, ingest: published.ingest, build: published.publish,
      apply: pulled.usage, keptByteCount: pulled.keptByteCount, newStoredByteCount: pulled.newStoredByteCount,
      idlePrivateByteCount: pulled.idleUsage.privateByteCount)
  }

  /// - Parameter client: a client's store with the old version, which stays as it is.
  private func measureDeltas(
    _ publisher: Publisher, client: String, in folder: String, _ report: (UpdateRow) -> Void
  ) throws {
    for level in Self.deltaLevels {
      let (file, store) = ("\(folder)/delta-\(level)", "\(folder)/client-\(level)")
      let built = try packstore.measure([
        "delta", publisher.site, "\(Self.pack)@1", "\(Self.pack)@2", "-o", file, "--level", level, "--key",
        publisher.key, "--quiet",
      ]).usage
      try FileManager.default.copyItem(atPath: client, toPath: store)
      let updated = Client(packstore, store: store)
      let before = try FolderState(store)
      let apply = ["apply", store, file, "--trust", try publisher.publicKey(), "--quiet", "--json"]
      let (answer, applied) = try packstore.measure(apply)
      let kept = try FolderState(store).byteCountWritten(since: before)
      let idle = try packstore.measure(apply).usage
      try updated.check(against: publisher)
      report(
        UpdateRow(
          key: "packstore-delta-\(level)", name: "packstore, delta, \(level)", byteCount: try fileByteCount(file),
          publishedByteCount: try fileByteCount(file), build: built, apply: applied, keptByteCount: kept,
          newStoredByteCount: Self.newStoredByteCount(in: answer), idlePrivateByteCount: idle.privateByteCount))
      try FileManager.default.removeItem(atPath: store)
    }
  }

  // MARK: - Both ends

  private struct Publication {
    let ingest: ProgramUsage
    let publish: ProgramUsage
    let addedByteCount: Int
  }

  private struct Publisher {
    let packstore: Program
    let store: String
    let site: String
    let key: String
    let level: Int

    init(_ packstore: Program, in folder: String, level: Int) {
      self.packstore = packstore
      store = "\(folder)/store"
      site = "\(folder)/site"
      key = "\(folder)/site.key"
      self.level = level
    }

    func publish(_ version: String) throws -> Publication {
      let ingest = try packstore.measure(["add", store, version, "--pack", PackStoreUpdate.pack, "--quiet"]).usage
      _ = try packstore.measure(["keygen", key, "--quiet"])
      let before = try FolderState(site)
      let publish = try packstore.measure([
        "publish", store, site, "--key", key, "--level", "\(level)", "--deltas", "0", "--quiet",
      ]).usage
      return Publication(
        ingest: ingest, publish: publish, addedByteCount: try FolderState(site).byteCountWritten(since: before))
    }

    /// The site's root has it, at a fixed place.
    func publicKey() throws -> String {
      guard let root = FileManager.default.contents(atPath: "\(site)/root"),
        let key = PackStoreUpdate.publicKey(inRoot: root)
      else { throw ProgramFailure(description: "packstore publish: left no root") }
      return key
    }
  }

  /// The root key in the bytes of a site's root, in the text form that `--trust` takes. The site is new: its key followed no
  /// other one, so that the authority has a delegation alone.
  static func publicKey(inRoot root: Data) -> String? {
    let authority = root.dropFirst(60), key = authority.dropFirst(4 + 32).prefix(32)
    guard root.prefix(8) == Data("PKSROOT0".utf8), key.count == 32, authority.prefix(4) == Data(count: 4) else {
      return nil
    }
    return Data(key).base64EncodedString()
  }

  private struct Pull {
    let traffic: SiteTraffic
    let usage: ProgramUsage
    /// Of pulling again at once.
    let idleUsage: ProgramUsage
    let keptByteCount: Int
    let newStoredByteCount: Int?
  }

  private struct Client {
    let packstore: Program
    let store: String

    init(_ packstore: Program, store: String) {
      self.packstore = packstore
      self.store = store
    }

    func pull(from server: FileServer, of publisher: Publisher) throws -> Pull {
      let before = try FolderState(store)
      _ = server.takeExchanges()
      let (answer, usage) = try run(server)
      let traffic = SiteTraffic(server.takeExchanges(), site: publisher.site)
      let kept = try FolderState(store).byteCountWritten(since: before)
      try check(against: publisher)
      return Pull(
        traffic: traffic, usage: usage, idleUsage: try run(server).usage, keptByteCount: kept,
        newStoredByteCount: PackStoreUpdate.newStoredByteCount(in: answer))
    }

    private func run(_ server: FileServer) throws -> (output: String, usage: ProgramUsage) {
      // Without proxies: the site is on this machine.
      try packstore.measure(
        ["pull", store, server.url(of: ""), "--quiet", "--json"],
        environment: ["no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"])
    }

    /// Fails unless the store has the publisher's current version, and every byte of it.
    func check(against publisher: Publisher) throws {
      _ = try packstore.measure(["verify", store, "--deep", "--quiet"])
      let (own, expected) = try (catalog(of: store), catalog(of: publisher.store))
      guard own != nil, own == expected else { throw WrongBytes(path: PackStoreUpdate.pack) }
    }

    private func catalog(of store: String) throws -> String? {
      PackStoreUpdate.currentCatalog(
        inLog: try packstore.measure(["log", store, PackStoreUpdate.pack, "--json"]).output)
    }
  }

  /// Returns the stored bytes of new chunks, from the output of `packstore pull --json` or `packstore apply --json`.
  static func newStoredByteCount(in text: String) -> Int? {
    struct Answer: Decodable {
      var packs: [Answer]?
      var newStoredBytes: Int?
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let answer = try? decoder.decode(Answer.self, from: Data(text.utf8))
    return answer?.newStoredBytes ?? answer?.packs?.first?.newStoredBytes
  }

  /// Returns the catalog of the only pack's current version, from the output of `packstore log --json`.
  static func currentCatalog(inLog text: String) -> String? {
    struct Log: Decodable {
      struct Pack: Decodable { let versions: [Version] }
      struct Version: Decodable {
        let current: Bool
        let catalog: String
      }
      let packs: [Pack]
    }
    let log = try? JSONDecoder().decode(Log.self, from: Data(text.utf8))
    return log?.packs.first?.versions.first { $0.current }?.catalog
  }
}
