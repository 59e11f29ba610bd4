import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

/// The state of a site on a web server, as shown by its roots and manifests. It needs no key, and no copy of the site.
///
/// A missing or damaged manifest or sheet is not an error: the file itself is among the files to check, and its content is left out.
struct ServedSurvey {
  private let served: RemoteSiteCopy

  init(_ served: RemoteSiteCopy) { self.served = served }

  struct Findings {
    let status: Site.Status

    /// The files that the roots refer to.
    let rules: [SitePath: ContentRule]
    let roots: [RemoteSiteCopy.Root]

    /// The channels with damaged roots.
    let damaged: [SiteChannel]
  }

  /// - Parameters:
  ///   - now: in nanoseconds since 1970.
  ///   - hasHistory: whether to find all records of the history: one request after another. False: only the newest record of each channel.
  func run(now: Int64, hasHistory: Bool) async throws -> Findings {
    let (roots, damaged) = try await readRoots()
    var labels: [Digest256: VersionLabel] = [:], rules: [SitePath: ContentRule] = [:]
    for sheet in Set(roots.flatMap(\.signed.root.sheets)) {
      rules[.sheet(sheet.digest)] = .init(byteCount: UInt64(sheet.byteCount), content: .digest(sheet.digest))
      let bytes = try await read(.sheet(sheet.digest), byteCount: UInt64(sheet.byteCount))
      if let bytes, let sheet = try? sheet.open(bytes) { labels.merge(sheet.labels) { first, _ in first } }
    }
    for pack in roots.flatMap(\.signed.root.packs) {
      for delta in pack.deltas {
        rules[.delta(delta.header)] = .init(byteCount: delta.byteCount, content: .delta(delta))
      }
      for offer in pack.offers where rules[.version(offer.manifest)] == nil {
        rules[.version(offer.manifest)] = .init(
          byteCount: UInt64(offer.manifestByteCount), content: .digest(offer.manifest))
        let bytes = try await read(.version(offer.manifest), byteCount: UInt64(offer.manifestByteCount))
        guard let bytes, let manifest = try? offer.openManifest(bytes, of: pack.id) else { continue }
        rules.merge(manifest.contentRules) { first, _ in first }
      }
    }
    for root in roots { rules.merge(try await records(of: root, all: hasHistory)) { first, _ in first } }
    var status = Site.Status(roots.map(\.signed), labels: labels, now: now)
    for channel in damaged { status.add(.init(.damagedRoot, channel)) }
    let byteCount = rules.values.map(\.byteCount).clampedSum().addingClamped(
      roots.map { UInt64($0.bytes.count) }.clampedSum())
    status.space = .init(neededByteCount: Int(clamping: byteCount))
    return Findings(status: status, rules: rules, roots: roots, damaged: damaged)
  }

  /// Reads the roots, which must be of one publisher.
  private func readRoots() async throws -> (roots: [RemoteSiteCopy.Root], damaged: [SiteChannel]) {
    var roots: [RemoteSiteCopy.Root] = [], damaged: [SiteChannel] = []
    for channel in served.channels {
      guard let file = try await served.readRoot(of: channel) else {
        guard channel == .live else {
          throw PackStoreError(.notFound, "the site has no such channel", about: .channel(channel))
        }
        continue
      }
      let path = served.source.place(of: SitePath.root(channel).description)
      guard let signed = try? SignedSiteRoot(decoding: file.bytes, file: path), signed.root.channel == channel else {
        damaged.append(channel)
        continue
      }
      roots.append(.init(bytes: file.bytes, signed: signed))
    }
    guard Set(roots.map { $0.signed.authority?.firstKey }).count <= 1 else {
      throw PackStoreError(
        .untrusted, "its channels are signed by different publishers", about: .site(served.source.location))
    }
    return (roots, damaged)
  }

  /// The records of a channel's history. After a missing or damaged record, the records before it are unknown.
  private func records(of root: RemoteSiteCopy.Root, all: Bool) async throws -> [SitePath: ContentRule] {
    var rules: [SitePath: ContentRule] = [:]
    guard var chain = try? ChangeChain(of: root.signed, root.bytes) else { return [:] }
    while let digest = chain.next, all || rules.isEmpty {
      try Task.checkCancellation()
      let rule = ContentRule(byteCount: UInt64(ChangeRecord.byteCount), content: .digest(digest))
      rules[.record(digest)] = rule
      guard all, let bytes = try await read(.record(digest), byteCount: rule.byteCount),
        (try? chain.add(bytes)) != nil
      else { break }
    }
    return rules
  }

  /// Reads a file; `nil` if it is missing or has another length.
  private func read(_ path: SitePath, byteCount: UInt64) async throws -> [UInt8]? {
    guard byteCount > 0, byteCount <= UInt64(VersionManifest.byteCountLimit) else { return nil }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(byteCount), alignment: 16)
    defer { memory.deallocate() }
    let buffer = TransferBuffer(memory)
    do {
      try await served.source.read(
        SiteFile(path.description, byteCount: byteCount), at: 0, into: buffer, isFresh: false)
      return Array(buffer.bytes)
    } catch SourceFault.siteChanged { return nil } catch SourceFault.noRanges {
      throw DeliveryError.noRanges(of: served.source)
    }
  }
}
