import PackStore

extension SiteRoot {
  /// The highest number and the highest epoch of a pack that a channel ever offered.
  ///
  /// A publisher raises the epoch with each act that takes something away from devices: ``OfferEpochs``. Devices accept a lower
  /// version only from such an act, so that a publisher who signs an older state again takes nothing back by mistake.
  package struct Highest: Hashable, Sendable {
    package var number: UInt64
    /// The sequence number of the root that took something away last; 0 if none did.
    package var epoch: UInt64

    package init(number: UInt64, epoch: UInt64) {
      self.number = number
      self.epoch = epoch
    }
  }

  /// The maximum number of packs that a channel ever offered.
  package static let highestLimit = 131_072

  /// Returns the lowest valid table for packs: their highest numbers and epochs.
  package static func highest(of packs: [Pack]) -> [PackID: Highest] {
    var table: [PackID: Highest] = [:]
    for pack in packs {
      table[pack.id] = Highest(
        number: pack.offers.map(\.number).max() ?? 1, epoch: pack.offers.map(\.epoch).max() ?? 0)
    }
    return table
  }
}

extension SiteRoot {
  /// An extension after a root's packs that this version of PackStore does not know.
  package struct Extension: Hashable, Sendable {
    package var type: UInt16
    package var bytes: [UInt8]

    package init(type: UInt16, bytes: [UInt8]) {
      self.type = type
      self.bytes = bytes
    }
  }

  package static let extensionLimit = 64

  private static let highestType: UInt16 = 1
  /// A reader that does not know the extension must refuse the root.
  private static let criticalFlag: UInt16 = 1
  private static let extensionByteCount = 8
  private static let highestByteCount = 21

  /// Encodes the extensions in order of their types.
  func encodeExtensions(to writer: inout ByteWriter) {
    var table = ByteWriter()
    table.append(UInt32(clamping: highest.count))
    for (pack, highest) in highest.sorted(by: { $0.key < $1.key }) {
      table.append(text: pack.name)
      table.append(highest.number)
      table.append(highest.epoch)
    }
    var extensions = otherExtensions.map { (type: $0.type, flags: UInt16(0), bytes: $0.bytes) }
    extensions.append((Self.highestType, Self.criticalFlag, table.bytes))
    if let rolloutBytes { extensions.append((Self.rolloutsType, Self.criticalFlag, rolloutBytes)) }
    if let releaseBytes { extensions.append((Self.releasesType, Self.criticalFlag, releaseBytes)) }
    writer.append(UInt32(clamping: extensions.count))
    for next in extensions.sorted(by: { $0.type < $1.type }) {
      Self.encode(next.type, next.flags, next.bytes, to: &writer)
    }
  }

  private static func encode(_ type: UInt16, _ flags: UInt16, _ bytes: [UInt8], to writer: inout ByteWriter) {
    writer.append(type)
    writer.append(flags)
    writer.append(UInt32(clamping: bytes.count))
    writer.append(bytes)
  }

  var extensionsAreWithinLimits: Bool {
    let types = otherExtensions.map(\.type)
    return highest.count <= Self.highestLimit && otherExtensions.count < Self.extensionLimit - 2
      && !types.contains(Self.rolloutsType) && !types.contains(Self.releasesType)
      && zip([Self.highestType] + types, types).allSatisfy { $0 < $1 }
  }

  /// Decodes the extensions, and checks the table of highest numbers against the packs.
  ///
  /// - Throws: `corrupt`; `newerFormat` if a reader must know an extension that this version does not know.
  mutating func decodeExtensions(from reader: inout ByteReader) throws {
    let begin = reader.offset
    let count = try reader.count(
      limit: Self.extensionLimit, byteCount: Self.extensionByteCount, "too many extensions of a root")
    var last: UInt16 = 0, hasHighest = false
    for _ in 0..<count {
      let place = reader.offset
      let type: UInt16 = try reader.integer(), flags: UInt16 = try reader.integer()
      let bytes = try reader.take(Int(try reader.integer(UInt32.self)))
      guard type > last else { throw reader.corrupt("extensions of a root are out of order", at: place) }
      last = type
      let isAlwaysCritical = [Self.highestType, Self.rolloutsType, Self.releasesType].contains(type)
      guard flags & ~Self.criticalFlag == 0, !isAlwaysCritical || flags == Self.criticalFlag else {
        throw reader.corrupt("invalid flags of a root's extension", at: place)
      }
      if type == Self.highestType {
        highest = try Self.decodeHighest(bytes, file: reader.file)
        hasHighest = true
      } else if type == Self.rolloutsType {
        try decodeRollouts(bytes, file: reader.file)
      } else if type == Self.releasesType {
        try decodeReleases(bytes, file: reader.file)
      } else if flags & Self.criticalFlag != 0 {
        throw PackStoreError(
          .newerFormat, "the root needs extension \(type), which this version of PackStore does not know",
          file: reader.file)
      } else {
        otherExtensions.append(Extension(type: type, bytes: Array(bytes)))
      }
    }
    guard hasHighest else { throw reader.corrupt("a root without a table of highest numbers", at: begin) }
    guard isCovered else {
      throw reader.corrupt("the root's table of highest numbers contradicts its offers", at: begin)
    }
  }

  private static func decodeHighest(_ bytes: ArraySlice<UInt8>, file: String) throws -> [PackID: Highest] {
    var reader = ByteReader(bytes, file: file)
    let count = try reader.count(limit: highestLimit, byteCount: highestByteCount, "too many packs in a root's table")
    var table: [PackID: Highest] = [:]
    var last: PackID?
    for _ in 0..<count {
      let begin = reader.offset
      let pack = try reader.packID(), number: UInt64 = try reader.integer(), epoch: UInt64 = try reader.integer()
      guard last.map({ $0 < pack }) ?? true, 1...PackVersion.lastNumber ~= number else {
        throw reader.corrupt("invalid row in a root's table of highest numbers", at: begin)
      }
      table[pack] = Highest(number: number, epoch: epoch)
      last = pack
    }
    try reader.end()
    return table
  }

  /// Whether the table has every pack of the root, no number or epoch below an offer's, and no epoch above the sequence.
  private var isCovered: Bool {
    highest.values.allSatisfy { $0.epoch <= sequence }
      && packs.allSatisfy { pack in
        guard let row = highest[pack.id] else { return false }
        return pack.offers.allSatisfy { $0.number <= row.number && $0.epoch <= row.epoch }
      }
  }
}
