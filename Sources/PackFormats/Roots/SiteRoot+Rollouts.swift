import PackStore

/// The extension of a root with the rollouts of its offers. It is critical: a reader that ignored it would install halted versions.
extension SiteRoot {
  static let rolloutsType: UInt16 = 0x20
  private static let rolloutByteCount = 29

  /// The time after which steps do not count, in nanoseconds since 1970. So withholding newer roots does not finish a rollout.
  package var horizonEnd: Int64 { horizon.map { madeAt.addingClamped($0) } ?? .max }

  /// Returns the share of devices of an offer at a time, in 1/10000.
  ///
  /// - Parameter time: nanoseconds since 1970.
  package func share(of offer: Offer, at time: Int64) -> UInt32 {
    offer.rollout?.share(base: offer.share, at: time, until: horizonEnd) ?? offer.share
  }

  package var hasRollouts: Bool { packs.contains { $0.offers.contains { $0.rollout != nil } } }

  private var hasSteps: Bool { packs.contains { $0.offers.contains { $0.rollout?.steps.isEmpty == false } } }

  /// Whether a client can read the rollouts, and they end with the root.
  var rolloutsAreValid: Bool {
    let areValid = packs.allSatisfy { pack in
      pack.offers.allSatisfy { $0.rollout?.isValid(base: $0.share) ?? true }
    }
    return areValid && (horizon ?? 1) > 0 && (!hasSteps || expiresAfter != nil)
  }

  /// - Throws: `invalidArgument` if clients would refuse the rollouts of the root.
  package func requireValidRollouts() throws {
    guard !hasSteps || expiresAfter != nil else {
      throw PackStoreError(
        .invalidArgument, "a root with rollout steps must expire", about: .channel(channel),
        detail: .noExpiry, remedy: "set an expiry, or end the rollouts of the channel")
    }
    guard packs.lazy.flatMap(\.offers).count(where: { $0.rollout != nil && $0.release == nil }) <= Self.packLimit else {
      throw PackStoreError(
        .invalidArgument, "a root has more than \(Self.packLimit) rollouts", about: .channel(channel), detail: .limit)
    }
    guard rolloutsAreValid else {
      throw PackStoreError(
        .invalidArgument, "a rollout has steps that do not rise, or more than \(Rollout.stepLimit)",
        about: .channel(channel), detail: .limit)
    }
  }

  /// The bytes of the extension; `nil` if no offer outside of releases has a rollout.
  package var rolloutBytes: [UInt8]? {
    var rows = ByteWriter(), count: UInt32 = 0
    for pack in packs {
      for offer in pack.offers.sorted(by: { $0.number < $1.number }) {
        guard let rollout = offer.rollout, offer.release == nil else { continue }
        rows.append(text: pack.id.name)
        rows.append(offer.number)
        rollout.encode(to: &rows)
        count += 1
      }
    }
    guard count > 0 else { return nil }
    var writer = ByteWriter()
    writer.append(horizon ?? 0)
    writer.append(count)
    writer.append(rows.bytes)
    return writer.bytes
  }

  /// Decodes the extension, and sets the rollouts of the offers.
  ///
  /// - Throws: `corrupt`.
  package mutating func decodeRollouts(_ bytes: ArraySlice<UInt8>, file: String) throws {
    var reader = ByteReader(bytes, file: file)
    let end: Int64 = try reader.integer()
    guard end >= 0 else { throw reader.corrupt("negative horizon of rollouts", at: 0) }
    horizon = end == 0 ? nil : end
    let count = try reader.count(
      limit: Self.packLimit, byteCount: Self.rolloutByteCount, "too many rollouts of a root")
    guard count > 0 else { throw reader.corrupt("empty table of rollouts") }
    var last: (pack: PackID, number: UInt64)?
    var indices: [PackID: Int] = [:]
    for (index, pack) in packs.enumerated() { indices[pack.id] = index }
    for _ in 0..<count {
      let begin = reader.offset
      let pack = try reader.packID(), number: UInt64 = try reader.integer()
      guard last.map({ ($0.pack, $0.number) < (pack, number) }) ?? true else {
        throw reader.corrupt("rollouts of a root are out of order", at: begin)
      }
      last = (pack, number)
      guard let index = indices[pack], let place = packs[index].offers.firstIndex(where: { $0.number == number }) else {
        throw reader.corrupt("rollout of a version that the root does not offer", at: begin)
      }
      packs[index].offers[place].rollout = try Rollout(from: &reader)
    }
    try reader.end()
    guard rolloutsAreValid else { throw reader.corrupt("invalid steps of a rollout, or a root that never expires") }
  }
}

extension Rollout {
  private static let stepByteCount = 12

  func encode(to writer: inout ByteWriter) {
    writer.append(state.rawValue)
    writer.append(asOf)
    writer.append(UInt32(clamping: steps.count))
    for step in steps {
      writer.append(step.time)
      writer.append(step.share)
    }
  }

  init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    guard let state = State(rawValue: try reader.integer()) else {
      throw reader.corrupt("invalid state of a rollout", at: begin)
    }
    self.state = state
    asOf = try reader.integer()
    let count = try reader.count(limit: Self.stepLimit, byteCount: Self.stepByteCount, "too many steps of a rollout")
    steps = []
    for _ in 0..<count { steps.append(Step(time: try reader.integer(), share: try reader.integer())) }
  }
}
