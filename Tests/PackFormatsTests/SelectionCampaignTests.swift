import Foundation
import Testing

@testable import PackFormats
@testable import PackStore

/// Random roots, devices and times: Swift and the reader in Python, which was written from the format alone, select the same offers.
@Suite struct SelectionCampaignTests {
  private static let rootCount = 500
  private static let casesPerRoot = 200

  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }

    mutating func time() -> Int64 { Int64.random(in: 0...100, using: &self) * 1_000_000_000 }
    mutating func share() -> UInt32 {
      [0, 1, 10_000, .random(in: 0...10_000, using: &self)].randomElement(using: &self) ?? 0
    }

    mutating func device() -> DeviceID {
      DeviceID(ID128(copying: (0..<16).map { _ in UInt8.random(in: 0...255, using: &self) }[...]))
    }

    mutating func rollout(base: UInt32) -> Rollout? {
      let times = Set((0..<Int.random(in: 0...6, using: &self)).map { _ in time() }).sorted()
      let shares = Set(times.map { _ in share() }).filter { $0 > base }.sorted()
      let steps = zip(times, shares).map { Rollout.Step(time: $0, share: $1) }
      let state = Rollout.State.allCases.randomElement(using: &self) ?? .open
      guard state != .open || !steps.isEmpty else { return nil }
      return Rollout(state: state, asOf: time(), steps: steps)
    }

    mutating func root() throws -> SiteRoot {
      let ranges: [AppVersionRange?] = [
        nil, try AppVersionRange("2.0..<3"), try AppVersionRange("..<2"), try AppVersionRange("2..."),
      ]
      let numbers = Array(1...5 as ClosedRange<UInt64>).shuffled(using: &self).prefix(
        Int.random(in: 1...4, using: &self))
      let offers = numbers.map { number in
        let base = share()
        return SiteRoot.Offer(
          number: number, catalog: SiteFormatSamples.catalog(UInt8(number)), manifest: SiteFormatSamples.digest(9),
          manifestByteCount: 1, share: base, rollout: rollout(base: base),
          appVersions: ranges.randomElement(using: &self) ?? nil)
      }
      var root = SiteRoot(
        sequence: 1, madeAt: time(), expiresAfter: 1, site: SiteID(SiteFormatSamples.id(1)), product: .standard,
        packs: [.init(id: "Tutorial", priority: 0, offers: offers, deltas: [])])
      if root.hasRollouts, Bool.random(using: &self) { root.horizon = time() + 1 }
      return root
    }
  }

  private struct Device {
    let client: SiteClient
    let current: UInt64
    let acceptedAt, clock: Int64
    let answeredAt: Int64?

    var time: Int64 { SelectionTime(acceptedAt: acceptedAt, clock: clock, answeredAt: answeredAt).nanoseconds }

    init(_ generator: inout Generator) throws {
      let app = ["1.9", "2", "2.0.0", "2.9.9", "3.0", nil].randomElement(using: &generator) ?? nil
      client = SiteClient(
        appVersion: try app.map { try AppVersion($0) },
        platform: ([.iOS, .macOS, nil] as [Platform?]).randomElement(using: &generator) ?? nil,
        device: generator.device())
      current = .random(in: 0...5, using: &generator)
      (acceptedAt, clock) = (generator.time(), generator.time())
      answeredAt = Bool.random(using: &generator) ? generator.time() : nil
    }

    var line: String {
      let app = client.appVersion?.description ?? "-", platform = client.platform?.rawValue ?? "-"
      let times = "\(acceptedAt) \(clock) \(answeredAt.map { "\($0)" } ?? "-")"
      return "case \(times) \(client.device?.description ?? "") \(app) \(platform) Tutorial \(current)"
    }

    /// The selection as the reader prints it.
    func answer(_ root: SiteRoot, _ key: SitePublicKey?, _ platforms: [UInt64: Set<Platform>]) -> String {
      let selection = OfferSelection(
        of: root.packs[0], in: root, signedBy: key, for: client, at: time,
        platforms: { platforms[$0.number] ?? [] }, isCurrent: { $0.number == current }, storeDevice: { nil })
      let chosen = selection.offer.map { "\($0.number)" } ?? "-"
      return ([chosen] + selection.refusals.map(\.obstacle.rawValue)).joined(separator: " ")
    }
  }

  @Test func anIndependentReaderSelectsTheSameOffers() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = Generator(state: seed)
    let key = SiteKey()
    var lines: [String] = [], expected: [String] = []
    for index in 0..<Self.rootCount {
      let root = try generator.root(), signer = index % 2 == 0 ? key : nil
      var platforms: [UInt64: Set<Platform>] = [1: [.iOS], 2: [.iOS, .macOS]]
      platforms[3] = Bool.random(using: &generator) ? [.macOS] : nil
      let bytes = try root.encode(signedBy: signer)
      #expect(try SignedSiteRoot(decoding: bytes, file: "root").root == root, "seed \(seed)")
      lines.append("root " + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
      let rows = platforms.sorted { $0.key < $1.key }
      lines.append(
        "platforms " + rows.map { "\($0)=" + $1.map(\.rawValue).sorted().joined(separator: ",") }.joined(separator: ";")
      )
      for _ in 0..<Self.casesPerRoot {
        let device = try Device(&generator)
        lines.append(device.line)
        expected.append(device.answer(root, signer?.publicKey, platforms))
      }
    }
    let answers = try read(lines)
    try #require(answers.count == expected.count, "seed \(seed): \(answers.first ?? "")")
    let difference = zip(answers, expected).enumerated().first { $1.0 != $1.1 }
    #expect(difference == nil, "seed \(seed), case \(difference.map { "\($0.offset): \($0.element)" } ?? "")")
  }

  // MARK: - Releases

  /// A root with four packs, whose offers may be members of two releases.
  private func releaseRoot(_ generator: inout Generator) throws -> SiteRoot {
    let releases = [UInt8(1), 2].map { byte -> (release: PackRelease, share: UInt32, rollout: Rollout?) in
      let base = generator.share()
      let id = PackReleaseID(ID128(copying: [UInt8](repeating: byte, count: 16)))
      return (PackRelease(id: id), base, generator.rollout(base: base))
    }
    var packs: [SiteRoot.Pack] = []
    for name in ["A", "B", "C", "D"] as [PackID] {
      var entry = try generator.root().packs[0]
      entry.id = name
      var left = releases.shuffled(using: &generator)
      for index in entry.offers.indices where Bool.random(using: &generator) {
        guard let next = left.popLast() else { break }
        entry.offers[index].release = next.release
        (entry.offers[index].share, entry.offers[index].rollout) = (next.share, next.rollout)
      }
      packs.append(entry)
    }
    var root = try generator.root()
    (root.packs, root.highest) = (packs, SiteRoot.highest(of: packs))
    root.horizon = root.hasRollouts && Bool.random(using: &generator) ? generator.time() + 1 : nil
    return root
  }

  /// A device with several packs. Some of them cannot be installed.
  private struct PackDevice {
    let device: Device
    let requested, unable: Set<PackID>
    /// Installed packs with their versions, and wanted packs with 0.
    let current: [PackID: UInt64]

    init(_ generator: inout Generator) throws {
      device = try Device(&generator)
      let names: [PackID] = ["A", "B", "C", "D"]
      requested = Set(names.shuffled(using: &generator).prefix(.random(in: 1...4, using: &generator)))
      var current: [PackID: UInt64] = [:]
      for name in names where requested.contains(name) || Bool.random(using: &generator) {
        current[name] = .random(in: 0...6, using: &generator)
      }
      self.current = current
      unable = Set(names.filter { _ in generator.next() % 4 == 0 })
    }

    private func list(_ packs: Set<PackID>) -> String {
      packs.isEmpty ? "-" : packs.map(\.name).sorted().joined(separator: ",")
    }

    var line: String {
      let parts = device.line.split(separator: " ").dropFirst().dropLast(2).joined(separator: " ")
      let rows = current.sorted { $0.key < $1.key }.map { "\($0.name)=\($1)" }.joined(separator: ",")
      return "packs \(parts) \(list(requested)) \(rows) \(list(unable))"
    }

    func answer(_ root: SiteRoot, _ key: SitePublicKey?) -> String {
      let isCurrent = { (pack: SiteRoot.Pack, offer: SiteRoot.Offer) in current[pack.id] == offer.number }
      let installed = InstalledReleases(in: root, isInstalled: { current[$0] ?? 0 > 0 }, isCurrent: isCurrent)
      func select(_ entry: SiteRoot.Pack) -> OfferSelection {
        OfferSelection(
          of: entry, in: root, signedBy: key, for: device.client, at: device.time, platforms: { _ in [] },
          isCurrent: { isCurrent(entry, $0) }, hasRelease: installed.contains, storeDevice: { nil })
      }
      var selections: [PackID: OfferSelection] = [:]
      for entry in root.packs where current[entry.id] != nil { selections[entry.id] = select(entry) }
      let release = ReleaseSelection(in: root, selections, isCurrent: isCurrent) { entry, offer in
        var single = entry
        single.offers = [offer]
        return select(single).offer != nil
      }
      let included = release.included(with: requested)
      let blocked = release.blocked(by: unable.intersection(included), among: included)
      return included.sorted().map { pack in
        let number = selections[pack]?.offer.map { "\($0.number)" } ?? "-"
        return "\(pack)=\(number)" + (blocked[pack].map { "!\($0)" } ?? "")
      }.joined(separator: " ")
    }
  }

  @Test func anIndependentReaderDecidesReleasesTheSameWay() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = Generator(state: seed)
    let key = SiteKey()
    var lines: [String] = [], expected: [String] = []
    for index in 0..<Self.rootCount {
      let root = try releaseRoot(&generator), signer = index % 2 == 0 ? key : nil
      let bytes = try root.encode(signedBy: signer)
      #expect(try SignedSiteRoot(decoding: bytes, file: "root").root == root, "seed \(seed)")
      lines.append("root " + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
      for _ in 0..<Self.casesPerRoot {
        let device = try PackDevice(&generator)
        lines.append(device.line)
        expected.append(device.answer(root, signer?.publicKey))
      }
    }
    #expect(expected.count { $0.contains("!") } > expected.count / 100, "few cases are about blocked packs")
    let answers = try read(lines)
    try #require(answers.count == expected.count, "seed \(seed): \(answers.first ?? "")")
    let difference = zip(answers, expected).enumerated().first { $1.0 != $1.1 }
    #expect(difference == nil, "seed \(seed), case \(difference.map { "\($0.offset): \($0.element)" } ?? "")")
  }

  /// Returns the answers of the reader in Python.
  private func read(_ lines: [String]) throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("packstore-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", tests.appending(path: "Reader/site_reader.py").path, "--select", file.path]
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return output.split(separator: "\n").map(String.init)
  }

  /// For one root and rising times, every device keeps its offer or gets an earlier one in the root's order.
  @Test func risingTimesOnlyAddDevices() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = Generator(state: seed)
    for _ in 0..<2_000 {
      let root = try generator.root(), device = try Device(&generator)
      let times = (0..<8).map { _ in generator.time() }.sorted()
      for offer in root.packs[0].offers {
        let shares = times.map { root.share(of: offer, at: $0) }
        #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 }, "seed \(seed)")
      }
      let places = times.map { time -> Int in
        let selection = OfferSelection(
          of: root.packs[0], in: root, signedBy: nil, for: device.client, at: time, platforms: { _ in [] },
          isCurrent: { $0.number == device.current }, storeDevice: { nil })
        return selection.refusals.count
      }
      #expect(zip(places, places.dropFirst()).allSatisfy { $0 >= $1 }, "seed \(seed)")
    }
  }
}
