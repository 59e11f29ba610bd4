import Foundation
import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct OfferChoiceTests {
  private let device = DeviceID(hex: "000102030405060708090a0b0c0d0e0f")!
  private let version = OfferedVersion(pack: "Tutorial", number: 1, product: .standard, firstKey: nil)

  /// Fails the test that comes to it: no share decides there.
  private func noDevice() throws -> DeviceID {
    Issue.record("the device is asked for although no share decides")
    return device
  }

  private func fits(_ terms: OfferTerms, _ client: SiteClient, isCurrent: Bool = false) throws -> Bool {
    try terms.fits(client, version, isCurrent: isCurrent, storeDevice: noDevice)
  }

  // MARK: - Shares

  /// By another program, in Python, where `key` is 32 bytes, of no key zeros:
  ///
  ///     digest = hashlib.sha256(b"packstore share\0" + device + key + product + b"\0" + pack + b"\0"
  ///                             + number.to_bytes(8, "little")).digest()
  ///     int.from_bytes(digest[:8], "little") % 10000
  @Test(arguments: [
    ("000102030405060708090a0b0c0d0e0f", false, "default", "Tutorial", 1, 3450),
    ("000102030405060708090a0b0c0d0e0f", false, "default", "Tutorial", 2, 4852),
    ("000102030405060708090a0b0c0d0e0f", true, "default", "Tutorial", 1, 4247),
    ("000102030405060708090a0b0c0d0e0f", true, "levels", "Tutorial", 1, 5951),
    ("000102030405060708090a0b0c0d0e0f", true, "levels", "Level.1", 1, 7281),
    ("ffffffffffffffffffffffffffffffff", true, "levels", "Level.1", 1, 8998),
    ("ffffffffffffffffffffffffffffffff", true, "a", "B", PackVersion.lastNumber, 5878),
  ])
  func drawsAreAsAnotherProgramComputesThem(
    _ device: String, _ isSigned: Bool, _ product: String, _ pack: String, _ number: UInt64, _ draw: UInt32
  ) throws {
    let device = try #require(DeviceID(hex: device))
    let version = OfferedVersion(
      pack: try PackID(validating: pack), number: number, product: try Store.Product(product),
      firstKey: isSigned ? SitePublicKey(Array(1...32)) : nil)
    #expect(version.draw(for: device) == draw)
    for (share, isIn) in [(1, draw < 1), (draw, false), (draw + 1, true), (9_999, draw < 9_999)] {
      let terms = OfferTerms(share: share)
      #expect(try terms.fits(SiteClient(device: device), version, isCurrent: false, storeDevice: noDevice) == isIn)
      #expect(terms.fits(SiteClient(), version, isCurrent: false) { device } == isIn, "by the store's device")
    }
  }

  /// The same device for a number in every run.
  private static func device(_ number: Int) -> DeviceID {
    DeviceID(ID128(copying: Digest256(hashing: Array("\(number)".utf8)).bytes.prefix(ID128.byteCount)))
  }

  /// 10,000 devices: 5% of them are 500, with a standard deviation of 22.
  @Test func aShareIsOfThatManyDevices() {
    let devices = (0..<10_000).map(Self.device)
    #expect(Set(devices).count == devices.count)
    func chosen(_ share: UInt32) -> Set<DeviceID> {
      let terms = OfferTerms(share: share)
      return Set(devices.filter { device in terms.fits(SiteClient(), version, isCurrent: false) { device } })
    }
    let shares: [UInt32] = [0, 1, 100, 500, 501, 2_500, 5_000, 9_999, 10_000]
    let sets = shares.map(chosen)
    for (smaller, larger) in zip(sets, sets.dropFirst()) {
      #expect(smaller.isSubset(of: larger), "a share that rises only adds devices")
    }
    #expect(sets[0].isEmpty && sets[8].count == devices.count)
    #expect(430...570 ~= sets[3].count && 4_850...5_150 ~= sets[6].count)
  }

  /// Otherwise the same devices would get every untried version.
  @Test func versionsPacksAndPublishersDrawApart() throws {
    let devices = (0..<2_000).map(Self.device)
    var others = [version, version, version, version]
    others[0].number = 2
    others[1].pack = "Level"
    others[2].product = try Store.Product("levels")
    others[3].firstKey = SitePublicKey(Array(1...32))
    for other in others {
      let both = devices.filter { version.draw(for: $0) < 5_000 && other.draw(for: $0) < 5_000 }
      #expect(400...600 ~= both.count, "a quarter, of independent halves")
    }
  }

  @Test func onlyAShareAsksForTheDevice() throws {
    for (share, isCurrent, fits) in [
      (0, false, false), (0, true, true), (1, true, true), (10_000, false, true), (.max, false, true),
    ] as [(UInt32, Bool, Bool)] {
      #expect(try self.fits(OfferTerms(share: share), SiteClient(), isCurrent: isCurrent) == fits)
    }
    let other = try AppVersion("1")
    let terms = OfferTerms(platforms: [.iOS], appVersions: AppVersionRange(try AppVersion("2")...), share: 5_000)
    #expect(try !fits(terms, SiteClient(platform: .macOS)))
    #expect(try !fits(terms, SiteClient(appVersion: other)))
    struct NoDevice: Error {}
    #expect(throws: NoDevice.self) {
      try terms.fits(SiteClient(), version, isCurrent: false) { throw NoDevice() }
    }
  }

  // MARK: - Platforms and app versions

  @Test(
    arguments: [
      ([], nil, true), ([], .iOS, true), ([.iOS], nil, true), ([.iOS], .iOS, true), ([.iOS], .macOS, false),
      ([.iOS, .macOS], .macOS, true), ([Platform(rawValue: "Toaster")!], .iOS, false),
    ] as [(Set<Platform>, Platform?, Bool)])
  func platforms(_ platforms: Set<Platform>, _ platform: Platform?, _ fits: Bool) throws {
    #expect(try self.fits(OfferTerms(platforms: platforms), SiteClient(platform: platform)) == fits)
  }

  @Test(
    arguments: [
      (nil, "1", true), (nil, nil, true), ("2..<3", nil, true), ("2..<3", "1.9", false), ("2..<3", "2.0", true),
      ("2..<3", "2.9.9", true), ("2..<3", "3.0", false), ("2...", "1", false), ("2...", "999", true),
      ("..<3", "0", true),
      ("..<3", "3", false),
    ] as [(String?, String?, Bool)])
  func appVersions(_ range: String?, _ version: String?, _ fits: Bool) throws {
    let terms = OfferTerms(appVersions: try range.map { try AppVersionRange($0) })
    #expect(try self.fits(terms, SiteClient(appVersion: try version.map { try AppVersion($0) })) == fits)
  }

  /// A device that was updated to a version which its app is too old for would not get another one otherwise.
  @Test func theCurrentVersionIsExemptFromTheShareAlone() throws {
    let client = SiteClient(appVersion: try AppVersion("1"), platform: .iOS)
    let later = AppVersionRange(try AppVersion("2")...)
    #expect(try fits(OfferTerms(share: 0), client, isCurrent: true))
    #expect(try !fits(OfferTerms(appVersions: later, share: 0), client, isCurrent: true))
    #expect(try !fits(OfferTerms(platforms: [.macOS], share: 0), client, isCurrent: true))
  }

  // MARK: - Why not

  /// The first obstacle is returned, in this order; a share without a device id is `undrawnShare`, not a lost `share`.
  @Test func obstaclesAreNamed() throws {
    let later = AppVersionRange(try AppVersion("2")...)
    let client = SiteClient(appVersion: try AppVersion("1"), platform: .iOS)
    func obstacle(_ terms: OfferTerms, isCurrent: Bool = false, _ device: DeviceID? = nil) -> OfferObstacle? {
      terms.obstacle(to: client, version, isCurrent: isCurrent) { device }
    }
    #expect(obstacle(OfferTerms(platforms: [.macOS], appVersions: later, share: 0)) == .platform)
    #expect(obstacle(OfferTerms(appVersions: later, share: 0)) == .appVersion)
    #expect(obstacle(OfferTerms(share: 0)) == .share && obstacle(OfferTerms(share: 0), device) == .share)
    #expect(obstacle(OfferTerms(share: 1)) == .undrawnShare)
    let draw = version.draw(for: device)
    #expect(obstacle(OfferTerms(share: draw), device) == .share)
    #expect(obstacle(OfferTerms(share: draw + 1), device) == nil)
    for share in [0, 1, 10_000] as [UInt32] { #expect(obstacle(OfferTerms(share: share), isCurrent: true) == nil) }
  }

  // MARK: - Devices

  @Test func devicesAreReadAsTheyAreWritten() throws {
    #expect(device.description == "000102030405060708090a0b0c0d0e0f")
    #expect(DeviceID("000102030405060708090A0B0C0D0E0F") == device)
    #expect(DeviceID.random() != DeviceID.random())
    let json = try JSONEncoder().encode([device])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(device)\"]")
    #expect(try JSONDecoder().decode([DeviceID].self, from: json) == [device])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([DeviceID].self, from: Data("[\"00\"]".utf8)) }
    for text in ["", "00", "000102030405060708090a0b0c0d0e0", "000102030405060708090a0b0c0d0e0f0", "g\(device)"] {
      #expect(DeviceID(hex: text) == nil)
    }
  }
}
