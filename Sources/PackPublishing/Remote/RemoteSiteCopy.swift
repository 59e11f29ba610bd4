package import PackDelivery
package import PackFormats
package import PackStore

/// A served site as seen by a publisher without a copy: by its signed roots.
///
/// After the comparison of their key with the publisher's, all files are verified through them: manifests, frame tables and sheets
/// by their SHA-256, tables and pages by their ids.
package struct RemoteSiteCopy: Sendable {
  package let source: any SiteSource

  /// The channels whose roots are read: `live`, and others that may exist.
  package let channels: [SiteChannel]

  /// The served root of a channel.
  package struct Root: Sendable {
    package let bytes: [UInt8]
    package let signed: SignedSiteRoot

    package var digest: Digest256 { signed.digest }
  }

  /// Files fetched at a time.
  private static let parallelCount = 4

  /// The maximum error of this machine's clock in seconds: roots contain its time.
  private static let clockTolerance: Int64 = 900

  /// Larger than the table of any segment.
  private static let tableByteCountLimit: UInt64 = 64 << 20

  package init(_ source: any SiteSource, channels: [SiteChannel]) {
    self.source = source
    self.channels = [.live] + Set(channels).subtracting([.live]).sorted()
  }

  package func close() async { await source.close() }

  // MARK: - Roots

  /// Reads the existing roots; the root of `live` is required.
  ///
  /// - Parameters:
  ///   - key: the publisher's key: the roots must have the same first root key.
  ///   - trusted: a root key that they must have.
  ///   - localTime: the current time, in seconds since 1970.
  /// - Throws: `noSite`; `untrusted`, `corrupt`; `invalidArgument` if this machine's clock differs much from the server's;
  ///   `unreachable`, `denied`, `badResponse`.
  package func readRoots(
    key: SiteKey, trusted: SitePublicKey?, localTime: @Sendable () -> Int64 = ServerClock.system
  ) async throws -> [SiteChannel: Root] {
    var roots: [SiteChannel: Root] = [:]
    if let storage = source as? StorageSource { try checkClock(leadingBy: await storage.now() - localTime()) }
    for channel in channels {
      guard let file = try await readRoot(of: channel) else { continue }
      try checkClock(file.date, localTime)
      let path = source.place(of: SitePath.root(channel).description)
      let signed = try SignedSiteRoot(decoding: file.bytes, file: path)
      try check(signed, of: channel, key, trusted, path)
      roots[channel] = Root(bytes: file.bytes, signed: signed)
    }
    return roots
  }

  /// Reads a root; `nil` if the channel has none, which is an error for `live`.
  package func readRoot(of channel: SiteChannel) async throws -> WholeFile? {
    do {
      return try await source.readWhole(SitePath.root(channel).description, upTo: SiteRoot.byteCountLimit)
    } catch let error as DeliveryError where error.code == .noSite && channel != .live { return nil }
  }

  private func check(
    _ signed: SignedSiteRoot, of channel: SiteChannel, _ key: SiteKey, _ trusted: SitePublicKey?, _ path: String
  ) throws {
    guard let authority = signed.authority, authority.firstKey == key.firstKey else {
      let signer = signed.rootKey.map { "by another key, \($0)" } ?? "by no key"
      var error = PackStoreError(.untrusted, "signed \(signer)", file: path)
      error.specificRemedy = "use the key that signed the site, because clients refuse any other"
      throw error
    }
    if let trusted, !authority.rootKeys.contains(trusted) {
      throw PackStoreError(.untrusted, "not signed by the trusted key, \(trusted)", file: path)
    }
    guard signed.root.channel == channel else {
      throw PackStoreError(.corrupt, "the root belongs to the channel '\(signed.root.channel)'", file: path)
    }
  }

  private func checkClock(_ date: String?, _ localTime: () -> Int64) throws {
    guard let served = date.flatMap(httpSeconds) else { return }
    try checkClock(leadingBy: served - localTime())
  }

  private func checkClock(leadingBy lead: Int64) throws {
    guard abs(lead) > Self.clockTolerance else { return }
    var error = PackStoreError(
      .invalidArgument,
      "this machine's clock is \(abs(lead)) seconds \(lead > 0 ? "behind" : "ahead of") the server's clock",
      about: .site(source.location))
    error.specificRemedy = "correct the clock, because clients check the dates of roots"
    throw error
  }

  // MARK: - A copy without frames

  /// Makes a copy without frames of the offered versions in a folder.
  ///
  /// - Parameters:
  ///   - folder: an empty folder.
  ///   - current: the channel whose first offers become current in the copy's store.
  /// - Returns: the number of bytes fetched.
  /// - Throws: `siteChanged` if files of the roots do not exist; `untrusted`, `corrupt`; `unreachable`, `denied`, `badResponse`;
  ///   `noSpace`, `ioError`.
  package func copy(
    _ roots: [SiteChannel: Root], to folder: FilePath, current: SiteChannel
  ) async throws -> UInt64 {
    let tally = ByteTally()
    do {
      for name in SitePath.folders + [SitePath.rootFolder, "segments", "tables", "index", "tmp"] {
        try makeFolder(folder.appending(name))
      }
      let versions = try await copyManifests(roots, to: folder, current: current, tally)
      for sheet in Set(roots.values.flatMap(\.signed.root.sheets)) {
        _ = try await copyFile(
          .sheet(sheet.digest), byteCount: UInt64(sheet.byteCount), digest: sheet.digest, to: folder, tally)
      }
      let segments = Dictionary(versions.flatMap(\.manifest.segments).map { ($0.id, $0) }) { first, _ in first }
      try await forEachInParallel(segments.values, count: Self.parallelCount) { segment in
        try await copySegment(segment, to: folder, tally)
      }
      for (channel, root) in roots { try writeFile(SitePath.root(channel).description, in: folder, root.bytes) }
      if let site = roots[.live]?.signed.root.site {
        try Store.restoreSite(at: folder, id: site, versions)
      }
    } catch SourceFault.siteChanged(let error) {
      throw error
    } catch SourceFault.noRanges {
      var error = DeliveryError(.badResponse, "the server sends whole files only", at: source.location)
      error.specificRemedy = "enable ranges on the server, or keep a copy created by 'packstore strip'"
      throw error
    }
    return tally.byteCount
  }

  /// Copies manifests: for each pack, the current version first.
  private func copyManifests(
    _ roots: [SiteChannel: Root], to folder: FilePath, current: SiteChannel, _ tally: ByteTally
  ) async throws -> [Store.RestoredVersion] {
    var offers: [PackID: [SiteRoot.Offer]] = [:]
    var priorities: [PackID: Int32] = [:]
    let channels = [current] + channels.filter { $0 != current }
    for pack in channels.compactMap({ roots[$0] }).flatMap(\.signed.root.packs) {
      if priorities[pack.id] == nil { priorities[pack.id] = pack.priority }
      for offer in pack.offers {
        let known = offers[pack.id, default: []].first { $0.number == offer.number }
        guard known == nil || known?.manifest == offer.manifest else {
          throw PackStoreError(
            .corrupt, "channels of the site offer different versions '\(pack.id)@\(offer.number)'",
            about: .site(source.location))
        }
        if known == nil { offers[pack.id, default: []].append(offer) }
      }
    }
    var versions: [Store.RestoredVersion] = []
    for (pack, offers) in offers.sorted(by: { $0.key < $1.key }) {
      for offer in [offers[0]] + offers.dropFirst().sorted(by: { $0.number > $1.number }) {
        let bytes = try await copyFile(
          .version(offer.manifest), byteCount: UInt64(offer.manifestByteCount), digest: offer.manifest, to: folder,
          tally)
        versions.append(.init(try offer.openManifest(bytes, of: pack), priority: priorities[pack] ?? 0))
      }
    }
    return versions
  }

  private func copySegment(
    _ segment: VersionManifest.Segment, to folder: FilePath, _ tally: ByteTally
  ) async throws {
    let table = try await copyFile(
      .frames(segment.id), byteCount: UInt64(segment.tableByteCount), digest: segment.table, to: folder, tally)
    let path = SitePath.segment(segment.id).description, mirror = mirror(to: folder, tally)
    guard segment.kind == .data else {
      return try await mirror.copy(MirroredFile(path, byteCount: segment.byteCount))
    }
    // The body of the table begins at the page after the last frame, or later: then the trailer contains the offset.
    let frames = try FrameRows(table, of: segment, file: source.place(of: SitePath.frames(segment.id).description))
    let begin =
      frames.end.addingClamped(FrameRows.pageByteCount - 1) / FrameRows.pageByteCount * FrameRows.pageByteCount
    let name = "tables/\(segment.id)"
    guard begin + FrameRows.trailerByteCount < segment.byteCount, segment.byteCount - begin <= Self.tableByteCountLimit
    else {
      throw PackStoreError(
        .corrupt, "the frames of the segment leave no room for its table", file: source.place(of: path))
    }
    try await mirror.copy(MirroredFile(path, byteCount: segment.byteCount, from: begin, as: name))
    let trailer = try InputFile(name, in: folder).bytes(
      at: segment.byteCount - begin - FrameRows.trailerByteCount, upTo: Int(FrameRows.trailerByteCount))
    let body = FrameRows.bodyOffset(inTrailer: trailer)
    if body > begin, body < segment.byteCount {
      try await mirror.copy(MirroredFile(path, byteCount: segment.byteCount, from: body, as: name))
    }
  }

  // MARK: - Content

  /// Fetches segments with their frames, if the copy has their tables, and checks each frame against the frame table.
  ///
  /// - Returns: the number of bytes fetched.
  package func copyContent(of segments: [VersionManifest.Segment], to folder: FilePath) async throws -> UInt64 {
    let tally = ByteTally()
    do {
      for segment in segments where segment.kind == .data {
        let path = SitePath.segment(segment.id).description
        guard !pathExists(folder.appending(path)) else { continue }
        try await mirror(to: folder, tally).copy(
          MirroredFile(path, byteCount: segment.byteCount, parts: try parts(of: segment, in: folder)))
      }
    } catch SourceFault.siteChanged(let error) { throw error }
    return tally.byteCount
  }

  /// The frames of a segment by its frame table, and its own table, which the copy has.
  private func parts(of segment: VersionManifest.Segment, in folder: FilePath) throws -> [ContentChecker.Part] {
    let name = source.place(of: SitePath.segment(segment.id).description)
    let table = try InputFile(SitePath.frames(segment.id).description, in: folder)
      .contents(limit: VersionManifest.tableByteCountLimit)
    let tail = try InputFile("tables/\(segment.id)", in: folder).contents(limit: Int(Self.tableByteCountLimit))
    let frames = try FrameRows(table, of: segment, file: name), tailByteCount = UInt64(tail.count)
    guard tailByteCount <= segment.byteCount, frames.end <= segment.byteCount - tailByteCount else {
      throw PackStoreError(.corrupt, "the frames of the segment overlap its table", file: name)
    }
    return frames.parts + [
      .init(offset: segment.byteCount - tailByteCount, byteCount: tailByteCount, digest: Digest256(hashing: tail))
    ]
  }

  // MARK: - Files

  private func mirror(to folder: FilePath, _ tally: ByteTally) -> SiteMirror {
    SiteMirror(source: MirroredSource(source: source, tally: tally), target: MirrorFolder(path: folder), syncs: false)
  }

  /// Copies a file identified by its SHA-256. If it is damaged, requests it once more, bypassing all caches.
  private func copyFile(
    _ path: SitePath, byteCount: UInt64, digest: Digest256, to folder: FilePath, _ tally: ByteTally
  ) async throws -> [UInt8] {
    let file = MirroredFile(path.description, byteCount: byteCount, digest: digest)
    try await mirror(to: folder, tally).copy(file)
    return try InputFile(file.name, in: folder).contents(limit: Int(clamping: byteCount))
  }

  private func writeFile(_ name: String, in folder: FilePath, _ bytes: [UInt8]) throws {
    let file = try NewFile(FilePlace(name, in: folder))
    try file.write(bytes)
  }
}
