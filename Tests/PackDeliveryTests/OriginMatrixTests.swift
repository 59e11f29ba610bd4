import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import SystemPackage
  import Testing

  /// Who may change a pack, by every way in which a version comes: each cell is tried, printed and compared.
  @Suite struct OriginMatrixTests {
    /// Who speaks. The device has version 3 of the pack, and 1 before it.
    enum Speaker: String, CaseIterable {
      case newer, same, older, withdrawal, outOfDate, otherKey, otherProduct, unsigned, toUnknown, toLocal
    }

    enum Route: String, CaseIterable { case http, folder, archive, delta, add, copy, rollback, repair }

    let folder = TestFolder()
    let key = SiteKey(), stranger = SiteKey()
    static let pack: PackID = "P"

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    // MARK: - Speakers

    /// A publisher's store with versions 1 to 4, all kept.
    private func makeAuthor() throws -> Store {
      let author = try Store(at: FilePath(path("author")))
      for version in 1...4 {
        try folder.write(noise(30_000, seed: UInt64(version)) + Array("version \(version)".utf8), to: "source/file")
        var transaction = try author.makeTransaction(options: .init(keptVersionCount: 9))
        try transaction.install(folder: FilePath(path("source")), as: Self.pack)
        try transaction.commit()
      }
      return author
    }

    private func options(_ product: String = "default") throws -> Site.PublishOptions {
      var options = Site.PublishOptions()
      options.level = 1
      options.deltaCount = 0
      options.product = try Store.Product(product)
      return options
    }

    /// Site, archive and delta that say the same: `name`, `name.pack`, `name.delta`.
    private func speak(
      _ name: String, _ version: UInt64, _ author: Store, _ key: SiteKey, product: String = "default",
      signsDelta: Bool = true
    ) async throws {
      let options = try options(product), published = [Site.PublishedPack(Self.pack, version: version)]
      try await Site(at: FilePath(path(name))).publish(published, from: author, signedBy: key, options: options)
      _ = try await author.export(published[0], to: FilePath(path("\(name).pack")), signedBy: key, options: options)
      var delta = Store.DeltaOptions()
      delta.level = Store.DeltaOptions.fastLevel
      delta.product = try Store.Product(product)
      _ = try await author.makeDelta(
        of: Self.pack, fromVersion: version == 3 ? 1 : 3, toVersion: version, file: FilePath(path("\(name).delta")),
        signedBy: signsDelta ? key : nil, options: delta)
    }

    /// Removes the signature from a site's root and from an archive's root, which is its first member.
    private func unsign(_ name: String) throws {
      func unsigned(_ bytes: some Sequence<UInt8>) throws -> [UInt8] {
        try SignedSiteRoot(decoding: Array(bytes), file: name).root.encode(signedBy: nil)
      }
      func write(_ bytes: [UInt8], to file: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(file)))
      }
      try write(unsigned(Data(contentsOf: URL(fileURLWithPath: path("\(name)/root")))), to: "\(name)/root")
      let archive = try Array(Data(contentsOf: URL(fileURLWithPath: path("\(name).pack"))))
      let header = try #require(TarHeader(decoding: archive.prefix(TarHeader.byteCount)))
      let end = TarHeader.byteCount + Int(try #require(TarHeader.paddedByteCount(header.byteCount)))
      let root = try unsigned(archive[TarHeader.byteCount...].prefix(Int(header.byteCount)))
      let member = TarHeader(name: header.name, byteCount: UInt64(root.count), modifiedAt: 0).encode() + root
      let padding = [UInt8](repeating: 0, count: (512 - member.count % 512) % 512)
      try write(member + padding + archive[end...], to: "\(name).pack")
    }

    /// All speakers' words; the device as it is before each cell, and another for each speaker that heard it alone.
    private func prepare() async throws {
      let author = try makeAuthor()
      try await speak("first", 1, author, key)
      try await speak("older", 2, author, key)
      try await speak("same", 3, author, key)
      try await speak("newer", 4, author, key)
      try await Site(at: FilePath(path("withdrawal"))).publish(
        [.init(Self.pack, version: 3)], from: author, signedBy: key, options: options())
      try await speak("withdrawal", 2, author, key)
      try await speak("outOfDate", 2, author, key)
      try await speak("otherKey", 4, author, stranger)
      try await speak("otherProduct", 4, author, key, product: "other")
      try await speak("unsigned", 4, author, key, signsDelta: false)
      try unsign("unsigned")
      for device in ["device", "unknown"] {
        let store = try Store(at: FilePath(path(device)))
        try await store.pull(from: path("first"), options: pulling())
        try await store.pull(from: path("same"), options: pulling())
      }
      for name in try FileManager.default.contentsOfDirectory(atPath: path("unknown/index")) {
        try FileManager.default.removeItem(atPath: path("unknown/index/\(name)"))
      }
      _ = try await Store.repair(at: FilePath(path("unknown")))
      let local = try Store(at: FilePath(path("local")))
      for version in [1, 3] as [UInt64] {
        try folder.write(noise(30_000, seed: version) + Array("version \(version)".utf8), to: "source/file")
        var options = Store.InstallOptions()
        options.version = version
        try await local.install(folder: FilePath(path("source")), as: Self.pack, options: options)
      }
      for name in ["older", "same", "newer", "withdrawal", "outOfDate", "otherKey", "otherProduct", "unsigned"] {
        try await Store(at: FilePath(path("heard-\(name)"))).pull(from: path(name), options: pulling())
      }
    }

    private func pulling(adopts: Bool = false) -> Store.PullOptions {
      var options = Store.PullOptions()
      options.allowsUnsigned = true
      options.environment = [:]
      options.adopts = adopts
      return options
    }

    // MARK: - A cell

    private func device(_ speaker: Speaker) -> String {
      switch speaker {
      case .toUnknown: "unknown"
      case .toLocal: "local"
      default: "device"
      }
    }

    private func words(_ speaker: Speaker) -> String {
      [.toUnknown, .toLocal].contains(speaker) ? "newer" : speaker.rawValue
    }

    /// The result for a fresh copy of the device: its version afterwards, `=` if nothing had to be done, or the reason
    /// for a refusal.
    private func cell(_ speaker: Speaker, _ way: Route, adopts: Bool = false) async throws -> String {
      let copy = path("cell"), words = words(speaker)
      try? FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: path(device(speaker)), toPath: copy)
      let store = try Store(at: FilePath(copy))
      let before = try #require(try store.packs().first)
      var outcome: String
      do {
        outcome = try await hear(words, way, store, adopts: adopts)
      } catch let error as PackStoreError {
        outcome = "\(error.code)"
      } catch let error as DeliveryError {
        outcome = "\(error.code)"
      }
      let snapshot = try Store(at: FilePath(copy)).makeSnapshot()
      guard let after = snapshot.pack(Self.pack) else { return "gone" }
      if !adopts { #expect(after.origin == before.origin, "\(speaker) \(way)") }
      if outcome == "ok" { outcome = after.version == before.version ? "=" : "\(after.version.number)" }
      let isUntouched = after.version.catalog == before.version.catalog
      #expect(isUntouched || outcome == "\(after.version.number)", "\(speaker) \(way): what is refused changes nothing")
      return outcome
    }

    private func hear(_ words: String, _ way: Route, _ store: Store, adopts: Bool) async throws -> String {
      switch way {
      case .http:
        let server = try await FaultServer(try files(of: words))
        defer { Task { await server.close() } }
        // No unsigned site is taken from a server.
        let result = try await store.pull(from: server.url, packs: [Self.pack], options: pulling(adopts: adopts))
        return Self.word(result.packs[0].outcome)
      case .folder, .archive:
        let source = way == .folder ? path(words) : path("\(words).pack")
        let result = try await store.pull(from: source, packs: [Self.pack], options: pulling(adopts: adopts))
        return Self.word(result.packs[0].outcome)
      case .delta:
        var options = Store.ApplyOptions()
        options.adopts = adopts
        try await store.apply(delta: FilePath(path("\(words).delta")), trusting: .anyone, options: options)
      case .add:
        try folder.write(noise(30_000, seed: 9), to: "source/file")
        var options = Store.InstallOptions()
        options.adopts = adopts
        try await store.install(folder: FilePath(path("source")), as: Self.pack, options: options)
      case .copy:
        let source = try Store(at: FilePath(path("heard-\(words)"))).makeSnapshot()
        var options = Store.CopyOptions()
        options.adopts = adopts
        var transaction = try store.makeTransaction()
        try transaction.copy(Self.pack, from: source, options: options)
        try transaction.commit()
      case .rollback:
        var transaction = try store.makeTransaction()
        try transaction.rollBack(Self.pack)
        try transaction.commit()
      case .repair:
        _ = try await Store.repair(at: FilePath(store.path.string), from: [FilePath(path("heard-\(words)"))])
      }
      return "ok"
    }

    private static func word(_ outcome: Store.PullResult.Pack.Outcome) -> String {
      switch outcome {
      case .stale: "stale"
      case .publisherOutOfDate: "out of date"
      default: "ok"
      }
    }

    private func files(of site: String) throws -> [String: [UInt8]] {
      var files: [String: [UInt8]] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: path(site)) {
        if let data = FileManager.default.contents(atPath: "\(path(site))/\(name)") { files[name] = Array(data) }
      }
      return files
    }

    // MARK: - The matrix

    static let other = "other origin", low = "downgrade"
    static let expected: [Speaker: [String]] = [
      //              http            folder   archive  delta    add      copy     rollback repair
      .newer: ["4", "4", "4", "4", other, "4", "1", "="],
      .same: ["=", "=", "=", "=", other, "=", "1", "="],
      .older: ["stale", "stale", low, low, other, low, "1", "="],
      .withdrawal: ["2", "2", low, low, other, low, "1", "="],
      .outOfDate: ["out of date", "out of date", low, low, other, low, "1", "="],
      .otherKey: [other, other, other, other, other, other, "1", "="],
      .otherProduct: [other, other, other, other, other, other, "1", "="],
      .unsigned: ["badSignature", other, other, other, other, other, "1", "="],
      .toUnknown: [other, other, other, other, other, other, "1", "="],
      .toLocal: [other, other, other, other, "4", other, "1", "="],
    ]

    @Test func theMatrix() async throws {
      try await prepare()
      var text = "\n" + "speaker".padding(toLength: 14, withPad: " ", startingAt: 0)
      for way in Route.allCases { text += way.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0) }
      for speaker in Speaker.allCases {
        text += "\n" + speaker.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
        for (index, way) in Route.allCases.enumerated() {
          let outcome = try await cell(speaker, way)
          text += outcome.padding(toLength: 14, withPad: " ", startingAt: 0)
          #expect(outcome == Self.expected[speaker]![index], "\(speaker) by \(way)")
        }
      }
      print(text)
      // A device with the option takes over the pack in each way; versions of another origin do not count as older.
      for speaker in [Speaker.otherKey, .otherProduct, .unsigned, .toUnknown, .toLocal] {
        for way in [Route.folder, .archive, .delta, .copy] {
          #expect(try await cell(speaker, way, adopts: true) == "4", "\(speaker) adopted by \(way)")
        }
      }
      #expect(try await cell(.newer, .add, adopts: true) == "1", "numbers begin again")
      for way in [Route.folder, .archive, .delta, .copy] {
        let outcome = try await cell(.older, way, adopts: true)
        #expect(outcome == (way == .folder ? "stale" : Self.low), "an adoption is no downgrade")
      }
    }
  }
#endif
