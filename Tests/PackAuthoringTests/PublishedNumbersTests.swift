import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// A version number identifies one content permanently. Once, the numbers of a pack began with 1 again after its withdrawal, and
/// devices that had the first content could not update any pack of the site.
@Suite struct PublishedNumbersTests {
  let folder: TemporaryFolder
  let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  private static var options: Site.PublishOptions {
    var options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 0, gracePeriod: .zero)
    options.collectionPercent = 0
    return options
  }

  /// A new store whose pack P has one version for each content.
  private func store(_ contents: String...) async throws -> Store {
    let store = try folder.store("store-\(UUID().uuidString)")
    for content in contents { try await install(content, in: store) }
    return store
  }

  private func install(_ content: String, in store: Store) async throws {
    try await store.install(folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: "P")
  }

  private func publish(_ store: Store, isDryRun: Bool = false) async throws {
    try await site.publish(from: store, signedBy: key, options: Self.options, isDryRun: isDryRun)
  }

  private func withdraw() async throws {
    try await site.unpublish(["P"], signedBy: key, fromAllChannels: true, options: Self.options)
  }

  private func expectRefusal(_ store: Store, above highest: UInt64) async throws {
    for isDryRun in [true, false] {
      let error = await #expect(throws: PackStoreError.self) { try await publish(store, isDryRun: isDryRun) }
      #expect(error?.code == .exists && error?.subject?.pack == "P")
      #expect(error?.specificRemedy?.contains("above \(highest)") == true, "\(error?.specificRemedy ?? "")")
    }
  }

  @Test func otherContentIsRefusedAfterWithdrawal() async throws {
    let first = try await store("one")
    try await publish(first)
    try await withdraw()
    try await expectRefusal(store("another one"), above: 1)
    #expect(try site.store.packs().isEmpty)
    try await publish(first)
    #expect(try site.store.packs().map(\.version.number) == [1], "equal content may return")
    try await withdraw()
    try await publish(store("one", "two"))
    #expect(try site.store.packs().map(\.version.number) == [2])
  }

  @Test func otherContentIsRefusedAfterVersionIsDropped() async throws {
    let first = try await store("one")
    try await publish(first)
    for content in ["two", "three"] {
      try await install(content, in: first)
      try await publish(first)
    }
    try await expectRefusal(store("another one"), above: 2)
    try await expectRefusal(store("one", "another two"), above: 2)
    try await withdraw()
    try await expectRefusal(store("one", "two", "another three"), above: 3)
  }

  @Test func manifestContinuesNumbersAfterWithdrawal() async throws {
    let manifest = folder.path("Manifest.json")
    let text = #"{"assetPackID": "P", "downloadPolicy": {"onDemand": {}}, "platforms": [], "sourceRoot": "source","#
    try Data((text + #""fileSelectors": [{"filePattern": "**"}]}"#).utf8).write(to: URL(fileURLWithPath: manifest))
    for number in 1...3 as ClosedRange<UInt64> {
      try folder.makeFolder("source", ["file": Data("\(number)".utf8)])
      let evaluation = try Manifest.evaluate(contentsOf: FilePath(manifest))
      try await site.publish(from: .manifest(evaluation), signedBy: key, options: Self.options)
      #expect(try site.store.packs().map(\.version.number) == [number])
      try await withdraw()
    }
  }

  // MARK: - As a file

  private static let title = "packstore numbers \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)\n"

  @Test func fileIsReadAsItWasWritten() throws {
    let text = Self.title + "1 00112233445566ff A\n10 0000000000000000 A\n9 ffffffffffffffff B.c-d\n"
    let numbers = try PublishedNumbers(decoding: Array(text.utf8), file: "numbers")
    #expect(numbers.encode() == Array(text.utf8))
    #expect(numbers.highest(of: "A") == 10 && numbers.highest(of: "B.c-d") == 9 && numbers.highest(of: "C") == 0)
  }

  @Test(arguments: [
    "", "1 00112233445566ff A\n", "\(title)1 00112233445566ff A", "\(title)1 00112233445566f A\n",
    "\(title)1 00112233445566FF A\n", "\(title)1 +0112233445566ff A\n", "\(title)0 00112233445566ff A\n",
    "\(title)01 00112233445566ff A\n", "\(title)1 00112233445566ff .A\n", "\(title)1 00112233445566ff A B\n",
    "\(title)2 00112233445566ff A\n1 00112233445566ff A\n", "\(title)1 00112233445566ff A\n1 00112233445566ff A\n",
    "\(title)9007199254740992 00112233445566ff A\n", "packstore numbers 0\n", "packstore numbers 00 9\n",
  ])
  func damagedFileIsRefused(text: String) {
    #expect(throws: PackStoreError.self) { try PublishedNumbers(decoding: Array(text.utf8), file: "numbers") }
  }

  @Test func damagedFileEndsPublication() async throws {
    try await publish(store("one"))
    try await withdraw()
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("site/numbers")))
    let error = await #expect(throws: PackStoreError.self) { try await publish(store("two")) }
    #expect(error?.code == .corrupt && error?.subject?.name?.hasSuffix("numbers") == true)
  }
}
