public import PackStore

/// The versions and files that publishers keep on a site: a property of the site, in an extension of the root of `live`. So only a key
/// that may sign `live` changes it, and publishers of all channels obey it. Clients ignore it.
///
/// Invariant: every count and duration is within its range, also in values from files.
public struct RetentionPolicy: Hashable, Codable, Sendable {
  /// The number of versions of a pack that stay after they were offered, including the current one, from 1 to 1000. If it is above 1,
  /// the version before the current one of each channel is among them.
  public let offeredVersionCount: Int

  /// The number of the latest builds of a pack that wait to be offered, without the current version of the site's store, from 0 to
  /// 1000.
  public let buildCount: Int

  /// How long files that left the roots stay, in seconds.
  public let graceSeconds: UInt64

  /// How long a version of a purgeable pack stays after its last offer, in seconds: devices fetch its data when they need it.
  public let purgeableGraceSeconds: UInt64

  /// Versions that stay until they are unpinned, in order of their packs and numbers.
  public let pins: [Pin]

  public struct Pin: Hashable, Codable, Sendable, Comparable {
    public let pack: PackID
    public let version: UInt64

    public init(_ pack: PackID, _ version: UInt64) {
      self.pack = pack
      self.version = version
    }

    public static func < (left: Self, right: Self) -> Bool {
      left.pack == right.pack ? left.version < right.version : left.pack < right.pack
    }
  }

  /// The policy of a site without one: 3 offered versions, 2 builds, a week, 90 days.
  public static let standard = Self(trusted: 3, 2, 7 * 86_400, 90 * 86_400, [])

  /// The valid numbers of offered versions and builds.
  public static let offeredVersionCounts = 1...1_000
  public static let buildCounts = 0...1_000

  /// The longest grace period, in seconds: ten years.
  public static let longestGraceSeconds: UInt64 = 3_650 * 86_400

  /// The maximum number of pins.
  public static let pinLimit = 10_000

  /// - Throws: `invalidArgument` if a value is out of range.
  public init(
    offeredVersionCount: Int = standard.offeredVersionCount, buildCount: Int = standard.buildCount,
    graceSeconds: UInt64 = standard.graceSeconds, purgeableGraceSeconds: UInt64 = standard.purgeableGraceSeconds,
    pins: some Sequence<Pin> = []
  ) throws {
    let sorted = Set(pins).sorted()
    for (name, isValid) in [
      ("offeredVersionCount", Self.offeredVersionCounts ~= offeredVersionCount),
      ("buildCount", Self.buildCounts ~= buildCount), ("graceSeconds", graceSeconds <= Self.longestGraceSeconds),
      ("purgeableGraceSeconds", purgeableGraceSeconds <= Self.longestGraceSeconds),
      ("pins", sorted.count <= Self.pinLimit && sorted.allSatisfy { 1...PackVersion.lastNumber ~= $0.version }),
    ] where !isValid {
      throw PackStoreError(.invalidArgument, "is out of range", about: .parameter(name))
    }
    self.init(trusted: offeredVersionCount, buildCount, graceSeconds, purgeableGraceSeconds, sorted)
  }

  private init(trusted offered: Int, _ builds: Int, _ grace: UInt64, _ purgeable: UInt64, _ pins: [Pin]) {
    offeredVersionCount = offered
    buildCount = builds
    graceSeconds = grace
    purgeableGraceSeconds = purgeable
    self.pins = pins
  }

  private enum CodingKeys: CodingKey {
    case offeredVersionCount, buildCount, graceSeconds, purgeableGraceSeconds, pins
  }

  /// - Throws: `DecodingError` if a value is missing or out of range.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    do {
      try self.init(
        offeredVersionCount: container.decode(Int.self, forKey: .offeredVersionCount),
        buildCount: container.decode(Int.self, forKey: .buildCount),
        graceSeconds: container.decode(UInt64.self, forKey: .graceSeconds),
        purgeableGraceSeconds: container.decode(UInt64.self, forKey: .purgeableGraceSeconds),
        pins: container.decode([Pin].self, forKey: .pins))
    } catch let error as PackStoreError {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  public var grace: Duration { .seconds(Int64(clamping: graceSeconds)) }
  public var purgeableGrace: Duration { .seconds(Int64(clamping: purgeableGraceSeconds)) }
}

// MARK: - As an extension of a root

extension RetentionPolicy {
  /// The type of the extension: `Docs/FORMAT.md`, section 21.
  package static let extensionType: UInt16 = 0x10

  private static let pinByteCount = 13

  package var extensionBytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt32(clamping: offeredVersionCount))
    writer.append(UInt32(clamping: buildCount))
    writer.append(graceSeconds)
    writer.append(purgeableGraceSeconds)
    writer.append(UInt32(clamping: pins.count))
    for pin in pins {
      writer.append(text: pin.pack.name)
      writer.append(pin.version)
    }
    return writer.bytes
  }

  /// Decodes untrusted bytes.
  ///
  /// - Throws: `corrupt`.
  package init(extensionBytes bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    let offered: UInt32 = try reader.integer(), builds: UInt32 = try reader.integer()
    let grace: UInt64 = try reader.integer(), purgeable: UInt64 = try reader.integer()
    let count = try reader.count(limit: Self.pinLimit, byteCount: Self.pinByteCount, "too many pins in a policy")
    var pins: [Pin] = []
    for _ in 0..<count { pins.append(Pin(try reader.packID(), try reader.integer())) }
    try reader.end()
    guard zip(pins, pins.dropFirst()).allSatisfy({ $0 < $1 }),
      let policy = try? Self(
        offeredVersionCount: Int(offered), buildCount: Int(builds), graceSeconds: grace,
        purgeableGraceSeconds: purgeable, pins: pins)
    else { throw PackStoreError(.corrupt, "the root has an invalid retention policy", file: file) }
    self = policy
  }
}

extension SiteRoot {
  /// Returns the site's retention policy; `nil` if the root has none.
  ///
  /// - Throws: `corrupt`: clients ignore the fault, and publishers must not guess what to keep.
  package func retentionPolicy() throws -> RetentionPolicy? {
    let known = otherExtensions.first { $0.type == RetentionPolicy.extensionType }
    return try known.map {
      try RetentionPolicy(extensionBytes: $0.bytes, file: SitePath.root(channel).description)
    }
  }

  /// Sets or removes the retention policy.
  package mutating func setRetentionPolicy(_ policy: RetentionPolicy?) {
    otherExtensions.removeAll { $0.type == RetentionPolicy.extensionType }
    guard let policy else { return }
    otherExtensions.append(Extension(type: RetentionPolicy.extensionType, bytes: policy.extensionBytes))
    otherExtensions.sort { $0.type < $1.type }
  }
}
