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

  // MARK: - The previous draft

  /// The bytes of a root of the previous draft. Its authority is not read.
  private func previous(_ root: SiteRoot, seed: [UInt8]) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.append("PKSROOT0".utf8)
    writer.append(SiteFormat.previous)
    writer.append(UInt32(root.isClosed ? 1 : 0))
    writer.append(root.sequence)
    writer.append(root.madeAt)
    writer.append(root.expiresAfter ?? 0)
    writer.append(root.site.id.bytes)
    writer.append(UInt32(3))
    writer.append([1, 2, 3])
    for text in [root.product.name, root.channel.name, root.primaryLanguage?.text ?? ""] { writer.append(text: text) }
    writer.append(UInt32(root.sheets.count))
    for sheet in root.sheets {
      writer.append(sheet.digest.bytes)
      writer.append(sheet.byteCount)
    }
    writer.append(UInt32(root.packs.count))
    for pack in root.packs {
      writer.append(text: pack.id.name)
      writer.append(pack.priority)
      writer.append(UInt32(pack.offers.count))
      writer.append(UInt32(0))
      for offer in pack.offers {
        writer.append(offer.number)
        writer.append(offer.catalog.bytes)
        writer.append(offer.manifest.bytes)
        writer.append(offer.manifestByteCount)
        writer.append(attributes: offer.attributes)
        writer.append(offer.downloadByteCount)
        writer.append(offer.share)
        writer.append(text: offer.appVersions?.lowerBound?.description ?? "")
        writer.append(text: offer.appVersions?.upperBound?.description ?? "")
      }
    }
    return writer.bytes + (try Ed25519.PrivateKey(seed: seed).signature(of: writer.bytes))
  }

  /// Gives all files of the site the format of the previous draft. Only roots and lists are read by the conversion.
  private func makePrevious(seed: [UInt8]) throws {
    for (name, bytes) in folder.files("site") {
      let file = URL(fileURLWithPath: folder.path("site/\(name)"))
      if name == "root" || name.hasPrefix("roots/") {
        let root = try SignedSiteRoot(decoding: Array(bytes), file: name).root
        try Data(previous(root, seed: seed)).write(to: file)
      } else if ["retired", "numbers", "offered"].contains(name) {
        let text = String(decoding: bytes, as: UTF8.self)
        try Data(text.replacing(" 0 \(SiteFormat.current >> 16)\n", with: " 0 9\n", maxReplacements: 1).utf8).write(
          to: file)
      } else if ["versions/", "frames/", "attributes/"].contains(where: name.hasPrefix) {
        var old = bytes
        old[old.startIndex + 10] = 9
        try old.write(to: file)
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
    let before = try [SiteChannel.live, beta].map { try ServedSite(folder, channel: $0).root }
    try makePrevious(seed: seed)
    await #expect(throws: PackStoreError.self) { try await site.refresh(signedBy: key) }
    let result = try await site.convert(signedBy: key)
    #expect(result.channels.map(\.channel) == [beta, .live])
    for old in before {
      let new = try ServedSite(folder, channel: old.channel).root
      #expect(new.sequence > old.sequence && new.product == old.product && new.site == old.site)
      #expect(ChannelPlan(new).saysTheSame(as: ChannelPlan(old)))
      #expect(new.packs.map { $0.offers.map(\.catalog) } == old.packs.map { $0.offers.map(\.catalog) })
      #expect(new.packs.flatMap(\.offers).allSatisfy { $0.epoch == 0 } && new.highest["P"]?.number == 5)
    }
    let snapshot = try site.store.makeSnapshot()
    #expect(try snapshot.attributes(of: try #require(snapshot.version(4, of: "P"))).label == VersionLabel("1.4"))
    // Publishing goes on, with a number above all earlier ones.
    try await publish("6")
    #expect(try ServedSite(folder).versions["P"]?.first == 6)
    #expect(try await site.convert(signedBy: key).channels.count == 2, "a converted site is only signed again")
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
    var writer = ByteWriter()
    writer.append(UInt64(77))
    writer.append(Int64(1))
    writer.append(Int64(2))
    writer.append(root.publicKey.bytes)
    writer.append(key.publicKey.bytes)
    writer.append(text: "levels")
    writer.append(UInt32(1))
    writer.append(text: "beta")
    let message = Array("packstore delegation\0".utf8) + writer.bytes
    let lines = root.fileText.split(separator: "\n")
    let rootSeed = try #require(Data(base64Encoded: String(lines[1])))
    let signed = writer.bytes + (try Ed25519.PrivateKey(seed: Array(rootSeed)).signature(of: message))
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
