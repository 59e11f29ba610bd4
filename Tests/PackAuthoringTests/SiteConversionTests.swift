import Foundation
import PackStore
import Testing

@testable import PackAuthoring
@testable import PackFormats

/// A site of the previous draft of the format is converted; its publisher and its devices go on.
@Suite struct SiteConversionTests {
  private let folder: TemporaryFolder
  private let key: SiteKey
  private let seed = [UInt8](repeating: 6, count: 32)

  init() throws {
    folder = try TemporaryFolder()
    key = try #require(SiteKey(fileText: "\(SiteKey.firstLine)\n\(Data(seed).base64EncodedString())\n"))
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  /// Gives all files of the site the format of the previous draft. Only roots and lists are read by the conversion.
  ///
  /// - Parameter signers: the authority and the seed by which the root of a channel is signed; others are signed by the site's key.
  private func makePrevious(
    seed: [UInt8], _ signers: [SiteChannel: (authority: [UInt8], seed: [UInt8])] = [:]
  ) throws {
    for (name, bytes) in folder.files("site") {
      let file = URL(fileURLWithPath: folder.path("site/\(name)"))
      if name == "root" || name.hasPrefix("roots/") {
        let root = try SignedSiteRoot(decoding: Array(bytes), file: name).root
        let signer = signers[root.channel]
        let authority = try signer?.authority ?? PreviousDraft.authority(of: key)
        try Data(PreviousDraft.root(root, authority, seed: signer?.seed ?? seed)).write(to: file)
      } else if ["retired", "numbers", "offered"].contains(name) {
        try Data(PreviousDraft.text(Array(bytes))).write(to: file)
      } else if ["versions/", "frames/", "attributes/"].contains(where: name.hasPrefix) {
        try Data(PreviousDraft.file(Array(bytes))).write(to: file)
      }
    }
  }

  private func publish(_ content: String, to channel: SiteChannel? = .live, label: String? = nil) async throws {
    let store = try folder.store()
    var install = Store.InstallOptions()
    install.label = try label.map { try VersionLabel($0) }
    install.attributes = try Attributes(json: Array(#"{"platforms":["iOS"]}"#.utf8))
    try await store.install(
      folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: "P", options: install)
    var options = Site.PublishOptions(level: 1, keptVersionCount: 2, deltaCount: 0)
    options.channel = channel
    try await site.publish(from: store, signedBy: key, options: options)
  }

  // MARK: - Tests

  @Test func aConvertedSiteKeepsWhatItOffers() async throws {
    let beta = try SiteChannel("beta")
    for number in 1...4 { try await publish("\(number)", label: "1.\(number)") }
    try await publish("5", to: beta)
    try await site.promote("P", version: 5, to: .live, share: DeviceShare("5%"), signedBy: key)
    let before = try [SiteChannel.live, beta].map { try RemoteSiteCopy(folder, channel: $0).root }
    try makePrevious(seed: seed)
    await #expect(throws: PackStoreError.self) { try await site.refresh(signedBy: key) }
    let result = try await site.convert(signedBy: key)
    #expect(result.channels.map(\.channel) == [beta, .live])
    for old in before {
      let new = try RemoteSiteCopy(folder, channel: old.channel).root
      #expect(new.sequence > old.sequence && new.product == old.product && new.site == old.site)
      #expect(ChannelPlan(new).saysTheSame(as: ChannelPlan(old)))
      #expect(new.packs.map { $0.offers.map(\.catalog) } == old.packs.map { $0.offers.map(\.catalog) })
      let epochs = Set(new.packs.flatMap(\.offers).map(\.epoch))
      #expect(epochs.count == 1 && epochs.allSatisfy { old.sequence < $0 && $0 <= new.sequence })
      #expect(try new.highest["P"] == .init(number: 5, epoch: #require(epochs.first)))
    }
    let snapshot = try site.store.makeSnapshot()
    #expect(try snapshot.attributes(of: try #require(snapshot.version(4, of: "P"))).label == VersionLabel("1.4"))
    // Publishing goes on, with a number above all earlier ones.
    try await publish("6")
    #expect(try RemoteSiteCopy(folder).versions["P"]?.first == 6)
    let highest = try RemoteSiteCopy(folder).root.highest
    #expect(try await site.convert(signedBy: key).channels.count == 2, "a converted site is only signed again")
    #expect(try RemoteSiteCopy(folder).root.highest == highest, "nothing is taken away")
  }

  /// A version was withdrawn before the conversion. A device that had not seen the withdrawal kept the version, because the converted
  /// root had the epoch 0.
  @Test func withdrawalsBeforeTheConversionReachDevices() async throws {
    for number in 1...2 { try await publish("\(number)") }
    let store = try folder.store(), device = try folder.store("device"), delta = FilePath(folder.path("delta"))
    _ = try await store.makeDelta(of: "P", fromVersion: 1, toVersion: 2, file: delta, signedBy: key)
    var transaction = try device.makeTransaction()
    try transaction.copy("P", version: 1, from: store.makeSnapshot())
    try transaction.commit()
    var apply = Store.ApplyOptions()
    apply.adopts = true
    try await device.apply(delta: delta, trusting: .key(key.publicKey), options: apply)
    var options = Site.PublishOptions(level: 1, keptVersionCount: 2, deltaCount: 0)
    options.takesBack = true
    try await site.promote("P", version: 1, to: .live, signedBy: key, options: options)
    try makePrevious(seed: seed)
    try await site.convert(signedBy: key)
    let root = try RemoteSiteCopy(folder).root, offer = try #require(root.offers(of: "P").first)
    #expect(offer.number == 1)
    var statement = Provenance(.signed(key.publicKey, .standard), .root, serial: 1, sequence: root.sequence)
    statement.highest = try #require(root.highest["P"]?.number)
    let next = try device.makeTransaction()
    #expect(throws: PackStoreError.self) { try next.accept(1, of: "P", by: statement) }
    statement.epoch = offer.epoch
    try next.accept(1, of: "P", by: statement)
  }

  /// The root key was replaced, and a channel has a release key of its own: each key converts the channels that it may sign.
  @Test func eachKeyConvertsItsChannels() async throws {
    let beta = try SiteChannel("beta"), second = SiteKey(), live = SiteKey(), own = SiteKey()
    for number in 1...2 { try await publish("\(number)") }
    try await publish("3", to: beta)
    let chain = try [1, 0, 0, 0] + PreviousDraft.rotation(from: key, to: second)
    let lone = try [0, 0, 0, 0] + PreviousDraft.delegation(by: key, to: own, serial: 5, channels: ["beta"])
    try makePrevious(
      seed: seed,
      [
        .live: (chain + PreviousDraft.delegation(by: second, to: live, serial: 7), PreviousDraft.seed(of: live)),
        beta: (lone, PreviousDraft.seed(of: own)),
      ])
    let root = try second.following(key)
    func delegated(_ release: SiteKey, _ serial: UInt64, _ channels: [SiteChannel] = []) throws -> SiteKey {
      try release.delegated(
        by: root, serial: serial, madeAt: 0, endsAt: nil, product: .standard, channels: channels)
    }
    // Keys that clients would refuse: before the rotation, another publisher, and an earlier delegation.
    for other in [key, SiteKey(), try delegated(live, 6)] {
      await #expect(throws: PackStoreError.self) { try await site.convert(signedBy: other) }
    }
    let first = try await site.convert(signedBy: delegated(live, 9))
    #expect(first.channels.map(\.channel) == [.live] && first.otherChannels == [beta])
    #expect(try RemoteSiteCopy(folder, exactly: false).root.packs.flatMap(\.offers).map(\.number) == [2])
    let before = try RemoteSiteCopy(folder, exactly: false).root
    let next = try await site.convert(signedBy: delegated(own, 10, [beta]))
    #expect(next.channels.map(\.channel) == [beta] && next.otherChannels == [.live])
    #expect(try RemoteSiteCopy(folder).root == before)
    let root3 = try RemoteSiteCopy(folder, channel: beta).root
    #expect(root3.packs.flatMap(\.offers).map(\.number) == [3] && root3.packs[0].offers[0].epoch > 0)
  }

  /// A root key that replaced another one has rotations in its file, which both keys sign again.
  @Test func rotatedRootKeysAreSignedAgain() throws {
    let keys = [SiteKey(), SiteKey(), SiteKey()]
    let files = (0..<3).map { FilePath(folder.path("\($0).key")) }
    for (index, (key, file)) in zip(keys, files).enumerated() {
      try key.write(to: file)
      let lines = try (0..<index).map { try PreviousDraft.rotation(from: keys[$0], to: keys[$0 + 1]) }
      let text = key.fileText + lines.map { "rotation \(Data($0).base64EncodedString())\n" }.joined()
      try Data((text + (index == 2 ? "serial 7\n" : "")).utf8).write(to: URL(fileURLWithPath: file.string))
    }
    let error = #expect(throws: PackStoreError.self) { try SiteKey(contentsOf: files[1]) }
    #expect(error?.reason.contains("packstore rotate") == true, "\(error?.reason ?? "")")
    // Only the key before it, which has to be of this draft.
    #expect(throws: PackStoreError.self) { try SiteKey.rotate(files[0], to: files[2]) }
    #expect(throws: PackStoreError.self) { try SiteKey.rotate(files[1], to: files[2]) }
    let before = folder.files("")
    #expect(try SiteKey.rotate(files[0], to: files[1], isDryRun: true) == nil && folder.files("") == before)
    #expect(try SiteKey.rotate(files[0], to: files[1]) == keys[1].publicKey)
    #expect(try SiteKey.rotate(files[1], to: files[2]) == keys[2].publicKey)
    let last = try SiteKey(contentsOf: files[2])
    #expect(last.rotations.map(\.old) == [keys[0].publicKey, keys[1].publicKey] && last.highestSerial == 7)
    #expect(throws: PackStoreError.self) { try SiteKey.rotate(files[1], to: files[2]) }
    // A release key of the previous draft, delegated to by the second root key.
    let release = FilePath(folder.path("release.key"))
    try key.write(to: release)
    let rotation = try PreviousDraft.rotation(from: keys[0], to: keys[1])
    let delegation = try PreviousDraft.delegation(by: keys[1], to: key, serial: 5)
    let text =
      key.fileText + "rotation \(Data(rotation).base64EncodedString())\n"
      + "delegation \(Data(delegation).base64EncodedString())\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: release.string))
    #expect(try SiteKey.delegate(to: release, by: files[1]).serial > 5)
    #expect(try SiteKey(contentsOf: release).firstKey == keys[0].publicKey)
  }

  @Test func onlyTheKeyOfTheSiteConvertsIt() async throws {
    try await publish("1")
    try makePrevious(seed: seed)
    let files = folder.files("site")
    await #expect(throws: PackStoreError.self) { try await site.convert(signedBy: SiteKey()) }
    #expect(folder.files("site") == files)
    // Signed bytes that were changed are refused.
    let file = URL(fileURLWithPath: folder.path("site/root"))
    var bytes = try Data(contentsOf: file)
    bytes[20] ^= 1
    try bytes.write(to: file)
    await #expect(throws: PackStoreError.self) { try await site.convert(signedBy: key) }
  }

  /// The root key delegates again to a release key whose file is of the previous draft: it stays the same key.
  @Test func releaseKeysAreDelegatedToAgain() throws {
    let root = SiteKey(), rootFile = FilePath(folder.path("root.key")), file = FilePath(folder.path("site.key"))
    try root.write(to: rootFile)
    let signed = try PreviousDraft.delegation(by: root, to: key, serial: 77, product: "levels", channels: ["beta"])
    let text = key.fileText + "delegation \(Data(signed).base64EncodedString())\n"
    #expect(SiteKey(fileText: text) == nil)
    #expect(SiteKey.fault(inFileText: text).contains("earlier draft"))
    try key.write(to: file)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.string))
    let result = try SiteKey.delegate(to: file, by: rootFile)
    #expect(result.releaseKey == key.publicKey && result.serial > 77 && result.product.name == "levels")
    #expect(try result.channels == [SiteChannel("beta")] && SiteKey(contentsOf: file).publicKey == key.publicKey)
    // A delegation with a wrong signature is none.
    var damaged = signed
    damaged[0] ^= 1
    let other = key.fileText + "delegation \(Data(damaged).base64EncodedString())\n"
    #expect(SiteKey.previousRelease(fileText: other) == nil)
  }
}
