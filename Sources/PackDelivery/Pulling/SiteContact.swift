import PackFormats
package import PackStore

/// A site whose root was read before its store exists, so that a refused root leaves no trace.
///
/// The root is judged as at first contact; the following pull judges it again with the store's records.
package final class SiteContact: Sendable {
  let source: any SiteSource
  let root: WholeFile
  /// The cost of reading the root.
  let tally: WireTally

  private init(_ source: any SiteSource, root: WholeFile, _ tally: WireTally) {
    self.source = source
    self.root = root
    self.tally = tally
  }

  /// Reads the root of a site.
  ///
  /// - Parameter packs: packs that the site must have.
  /// - Throws: the errors of a pull about the place, the root, its signature, its age, and missing packs.
  package static func open(
    _ site: String, packs: [PackID]?, options: Store.PullOptions
  ) async throws -> SiteContact {
    let source = try makeSource(site, options)
    let tally = WireTally()
    do {
      let file = try await BlockingExecutor.runAsync {
        let channel = options.channel ?? .live
        let file = try await source.readRoot(of: channel, counting: tally)
        let root = try source.decodeRoot(file.bytes, of: channel)
        var book = TrustBook()
        _ = try book.admit(RootClaims(root), at: source.rootPlace(of: channel), TrustPolicy(options), now: options.now)
        try source.requireOpen(root.root)
        for pack in packs ?? [] where !root.root.packs.contains(where: { $0.id == pack }) {
          throw DeliveryError(noPack: pack, in: root.root, at: source.location)
        }
        return file
      }
      return SiteContact(source, root: file, tally)
    } catch {
      await source.close()
      throw error
    }
  }

  /// Closes the source, if no pull follows.
  package func close() async { await source.close() }
}

extension Store {
  /// Pulls from the site whose root was read.
  package func pull(
    from contact: SiteContact, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    do {
      let result = try await BlockingExecutor.runAsync {
        try await SitePull(
          store: self, source: contact.source, root: contact.root, tally: contact.tally, packs: packs, options: options,
          isPlan: false, report: progress
        ).run()
      }
      await contact.close()
      return result
    } catch {
      await contact.close()
      throw error
    }
  }
}

// MARK: - Roots

extension SiteSource {
  /// The place of a channel's root, for trust.
  func rootPlace(of channel: SiteChannel) -> RootPlace {
    isArchive ? .archive(location) : .site(location, channel, isLocal: isLocal)
  }

  /// The path of a channel's root. An archive has one root, of any channel.
  private func rootPath(of channel: SiteChannel) -> String {
    SitePath.root(isArchive ? .live : channel).description
  }

  /// Reads the root of a channel.
  func readRoot(of channel: SiteChannel, counting tally: WireTally) async throws -> WholeFile {
    guard let file = try await readRoot(of: channel, unless: nil, counting: tally) else {
      preconditionFailure("unreachable: nothing is unchanged without a condition")
    }
    return file
  }

  /// Reads the root of a channel; `nil` if it is still in the known state.
  func readRoot(
    of channel: SiteChannel, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile? {
    do {
      return try await readWhole(rootPath(of: channel), upTo: SiteRoot.byteCountLimit, unless: known, counting: tally)
    } catch var error as DeliveryError where error.isMissingRoot && channel != .live && !isArchive {
      error.reason = "does not have the channel '\(channel)'"
      throw error
    }
  }

  /// Reads a site from its root on, and once more if it changes during this.
  ///
  /// - Parameters:
  ///   - readRoot: reads the root, and judges it.
  ///   - body: reads the rest; receives whether it is the second time: missing files are then really missing.
  /// - Throws: the error of the changed file, if a file changed twice; the errors of `readRoot` and `body`.
  func readFromRoot<Value>(
    _ readRoot: () async throws -> SignedSiteRoot, _ body: (SignedSiteRoot, _ isAgain: Bool) async throws -> Value
  ) async throws -> Value {
    var before: Digest256?
    var isAgain = false
    while true {
      do {
        let root = try await readRoot()
        // The root is the same: a file that seemed to change has only another validator, or is really missing.
        if isAgain { restart(ignoringValidators: root.digest == before) }
        before = root.digest
        return try await body(root, isAgain)
      } catch SourceFault.siteChanged(let error) {
        guard !isAgain else { throw error }
        isAgain = true
        restart(ignoringValidators: false)
      }
    }
  }

  /// - Throws: `closedChannel`. The root was judged before.
  func requireOpen(_ root: SiteRoot) throws {
    guard root.isClosed else { return }
    throw DeliveryError(.closedChannel, "the channel '\(root.channel)' was closed by its publisher", at: location)
  }

  func decodeRoot(_ bytes: [UInt8], of channel: SiteChannel) throws -> SignedSiteRoot {
    let path = rootPath(of: channel)
    do {
      return try SignedSiteRoot(decoding: bytes, file: path)
    } catch let error as PackStoreError {
      guard !Self.isMarkup(bytes) else {
        var refusal = DeliveryError(.badResponse, "received a web page instead of a site's root", at: place(of: path))
        refusal.specificRemedy = "check the address, and whether the network requires a login"
        throw refusal
      }
      throw DeliveryError(error, at: place(of: path))
    }
  }

  /// Networks with a login page answer every request with that page.
  private static func isMarkup(_ bytes: [UInt8]) -> Bool {
    bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
  }
}

extension Store.Origin {
  /// The origin of the packs of a site.
  ///
  /// - Parameter product: the product of an unsigned site; `nil` for the product in its root.
  init(of root: SignedSiteRoot, unsigned product: Store.Product? = nil) {
    self = root.authority?.origin ?? .unsigned(product ?? root.root.product)
  }
}

extension TrustPolicy {
  init(_ options: Store.PullOptions) {
    self.init(
      key: options.trustedKey, allowsUnsigned: options.allowsUnsigned,
      maximumAge: options.maximumAge.map { Int64(min(max($0 / .nanoseconds(1), 0), 9e18)) })
  }
}

extension Store.PullOptions {
  /// The current time, in nanoseconds since 1970.
  var now: Int64 { wallClock?() ?? Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }
}

extension DeliveryError {
  /// Creates an error about a missing pack, with similar names or all packs of the site.
  init(noPack pack: PackID, in root: SiteRoot, at location: String) {
    let names = root.packs.map(\.id.name)
    let nearest = nearestNames(to: pack.name, among: names)
    let offered = nearest.isEmpty ? " (packs: \(listed(names)))" : ""
    self.init(.noPack, "the pack '\(pack)' is not offered\(offered)", at: location)
    self.pack = pack
    suggestions = nearest
  }

  /// Converts an error about a file of a site: the remedy differs from that for a file of a store.
  init(_ error: PackStoreError, at place: String) {
    let code: Code =
      switch error.code {
      case .untrusted: .badSignature
      case .newerFormat: .newerFormat
      case .otherDraft: .otherDraft
      default: .corrupt
      }
    self.init(code, error.reason, at: place, offset: error.offset)
  }
}
