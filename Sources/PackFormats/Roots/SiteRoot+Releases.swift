import PackStore

/// The extension of a root with its releases: which offers devices install together. It is critical: a reader that ignored it would
/// install a part of a release.
///
/// In memory, each member's offer has the share and the rollout of its release. In the file, the extension has them once.
extension SiteRoot {
  static let releasesType: UInt16 = 0x21
  private static let releaseByteCount = 57
  private static let memberByteCount = 13

  /// A release with the offers that are its members.
  private struct Row {
    let release: PackRelease
    let share: UInt32
    let rollout: Rollout?
    var members: [(pack: PackID, number: UInt64)]

    /// Whether an offer has the values of the release.
    func matches(_ offer: Offer) -> Bool {
      offer.release == release && offer.share == share && offer.rollout == rollout
    }
  }

  /// Whether an offer is a member of a release.
  package var hasReleases: Bool { packs.contains { $0.offers.contains { $0.release != nil } } }

  /// Returns the releases in order of their ids; `nil` if the members of a release differ in its name, share or rollout, or if a pack
  /// has two members of one release.
  private func releaseRows() -> [Row]? {
    var rows: [PackReleaseID: Row] = [:]
    for pack in packs {
      for offer in pack.offers {
        guard let release = offer.release else { continue }
        var row =
          rows[release.id] ?? Row(release: release, share: offer.share, rollout: offer.rollout, members: [])
        guard row.matches(offer), row.members.last?.pack != pack.id else { return nil }
        row.members.append((pack.id, offer.number))
        rows[release.id] = row
      }
    }
    return rows.values.sorted { $0.release.id < $1.release.id }
  }

  /// - Throws: `invalidArgument` if clients would refuse the releases of the root.
  func requireValidReleases() throws {
    guard let rows = releaseRows(), rows.count <= Self.packLimit else {
      throw PackStoreError(
        .invalidArgument, "the members of a release differ, or a root has more than \(Self.packLimit) releases",
        about: .channel(channel), detail: .limit)
    }
  }

  /// The bytes of the extension; `nil` if no offer is a member of a release.
  package var releaseBytes: [UInt8]? {
    guard let rows = releaseRows(), !rows.isEmpty else { return nil }
    var writer = ByteWriter()
    writer.append(hasRollouts ? horizon ?? 0 : 0)
    writer.append(UInt32(clamping: rows.count))
    for row in rows {
      writer.append(row.release.id.id.bytes)
      writer.append(text: row.release.name?.text ?? "")
      writer.append(row.share)
      (row.rollout ?? Rollout(asOf: 0)).encode(to: &writer)
      writer.append(UInt32(clamping: row.members.count))
      for member in row.members {
        writer.append(text: member.pack.name)
        writer.append(member.number)
      }
    }
    return writer.bytes
  }

  /// Decodes the extension, and sets the releases of the offers, with their shares and rollouts. Rollouts of single offers are
  /// decoded already.
  ///
  /// - Throws: `corrupt`.
  package mutating func decodeReleases(_ bytes: ArraySlice<UInt8>, file: String) throws {
    var reader = ByteReader(bytes, file: file)
    try decodeHorizon(from: &reader)
    let count = try reader.count(limit: Self.packLimit, byteCount: Self.releaseByteCount, "too many releases of a root")
    guard count > 0 else { throw reader.corrupt("empty table of releases") }
    var indices: [PackID: Int] = [:]
    for (index, pack) in packs.enumerated() { indices[pack.id] = index }
    var last: PackReleaseID?
    for _ in 0..<count {
      let begin = reader.offset
      let release = try decodeRelease(from: &reader, indices)
      guard last.map({ $0 < release }) ?? true else {
        throw reader.corrupt("releases of a root are out of order", at: begin)
      }
      last = release
    }
    try reader.end()
    guard rolloutsAreValid else { throw reader.corrupt("invalid steps of a release, or a root that never expires") }
    guard hasRollouts || horizon == nil else { throw reader.corrupt("horizon without a rollout", at: 0) }
  }

  private mutating func decodeHorizon(from reader: inout ByteReader) throws {
    let end: Int64 = try reader.integer()
    guard end >= 0, !hasRollouts || end == horizon ?? 0 else {
      throw reader.corrupt("invalid horizon of releases", at: 0)
    }
    horizon = end == 0 ? nil : end
  }

  /// Decodes a release, and returns its id.
  private mutating func decodeRelease(
    from reader: inout ByteReader, _ indices: [PackID: Int]
  ) throws -> PackReleaseID {
    let begin = reader.offset
    let id = PackReleaseID(try reader.id128())
    let name: PackReleaseName? = try reader.text(
      limit: PackReleaseName.byteCountLimit, "invalid name of a release"
    ) { text -> PackReleaseName?? in
      guard !text.isEmpty else { return .some(nil) }
      return (try? PackReleaseName(text)).map { .some($0) }
    }
    let share: UInt32 = try reader.integer()
    let state = try Rollout(from: &reader), isFixed = state.state == .open && state.steps.isEmpty
    guard share <= OfferTerms.everyDevice, !isFixed || state.asOf == 0 else {
      throw reader.corrupt("invalid share or state of a release", at: begin)
    }
    let count = try reader.count(
      limit: Self.packLimit, byteCount: Self.memberByteCount, "too many members of a release")
    guard count > 0 else { throw reader.corrupt("release without a member", at: begin) }
    let row = Row(
      release: PackRelease(id: id, name: name), share: share, rollout: isFixed ? nil : state, members: [])
    var last: PackID?
    for _ in 0..<count {
      let place = reader.offset
      let pack = try decodeMember(of: row, from: &reader, indices)
      guard last.map({ $0 < pack }) ?? true else {
        throw reader.corrupt("members of a release are out of order", at: place)
      }
      last = pack
    }
    return id
  }

  /// Decodes a member, sets the values of the release in its offer, and returns its pack.
  private mutating func decodeMember(
    of row: Row, from reader: inout ByteReader, _ indices: [PackID: Int]
  ) throws -> PackID {
    let begin = reader.offset
    let pack = try reader.packID(), number: UInt64 = try reader.integer()
    guard let index = indices[pack], let place = packs[index].offers.firstIndex(where: { $0.number == number }) else {
      throw reader.corrupt("release with a version that the root does not offer", at: begin)
    }
    let offer = packs[index].offers[place]
    guard offer.release == nil, offer.rollout == nil, offer.share == 0 else {
      throw reader.corrupt("member of two releases, or with a share of its own", at: begin)
    }
    packs[index].offers[place].release = row.release
    packs[index].offers[place].share = row.share
    packs[index].offers[place].rollout = row.rollout
    return pack
  }
}

extension SiteRoot {
  /// Returns packs, and all packs that share releases with them, directly or through other packs.
  package func packs(relatedTo packs: Set<PackID>) -> Set<PackID> {
    var members: [PackReleaseID: [PackID]] = [:], releases: [PackID: [PackReleaseID]] = [:]
    for pack in self.packs {
      for id in pack.offers.compactMap(\.release?.id) {
        members[id, default: []].append(pack.id)
        releases[pack.id, default: []].append(id)
      }
    }
    var all = packs, open = Array(packs)
    while let next = open.popLast() {
      for id in releases[next] ?? [] {
        for pack in members.removeValue(forKey: id) ?? [] where all.insert(pack).inserted { open.append(pack) }
      }
    }
    return all
  }
}
