import PackFormats
package import PackStore

/// A site whose root was read before there is a store to pull it into: what is refused for its root leaves no trace.
///
/// The root is judged as by a store that never saw the site; the pull that follows judges it once more, by what the store
/// knows.
package final class SiteContact: Sendable {
  let source: any SiteSource
  let root: WholeFile
  /// What reading the root has cost.
  let tally: WireTally

  private init(_ source: any SiteSource, root: WholeFile, _ tally: WireTally) {
    self.source = source
    self.root = root
    self.tally = tally
  }

  /// Reads the root of a site.
  ///
  /// - Parameter packs: those that the site must have.
  /// - Throws: what the pull would throw of the place, the root, its signature, its age, and packs that are not there.
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
        _ = try book.admit(RootClaims(root), at: source.rootPlace(of: channel), TrustPolicy(options), now: wallClock())
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

  /// Without a pull.
  package func close() async { await source.close() }
}

extension Store {
  /// Pulls from a site whose root was read.
  package func pull(
    from contact: SiteContact, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    do {
      let result = try await BlockingExecutor.runAsync {
        try await Puller(
          into: self, from: contact.source, root: contact.root, counting: contact.tally, packs: packs, options: options,
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
  /// Where the root of a channel was found, for trust.
  func rootPlace(of channel: SiteChannel) -> RootPlace {
    isArchive ? .archive(location) : .site(location, channel, isLocal: isLocal)
  }

  /// The file that has the root. An archive has one, of whatever channel.
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

  /// Reads the root of a channel; nil when it is in the state that is known.
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

  /// Reads a site from its root on, and once more when it turns out to have changed meanwhile.
  ///
  /// - Parameters:
  ///   - readRoot: reads the root, and judges it.
  ///   - body: reads on; whether it is the second time: what is gone then is really gone.
  /// - Throws: the error of the file that changed, when it did twice; what `readRoot` and `body` throw.
  func readFromRoot<Value>(
    _ readRoot: () async throws -> SignedSiteRoot, _ body: (SignedSiteRoot, _ isAgain: Bool) async throws -> Value
  ) async throws -> Value {
    var before: Digest256?
    var isAgain = false
    while true {
      do {
        let root = try await readRoot()
        // The same root again: what seemed to have changed has another validator only, or is really gone.
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

  /// Networks that want a login answer every request with a page.
  private static func isMarkup(_ bytes: [UInt8]) -> Bool {
    bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
  }
}

extension Store.Origin {
  /// What the packs of a site are.
  init(of root: SignedSiteRoot) {
    self = root.authority?.origin ?? .unsigned(root.root.product)
  }
}

extension TrustPolicy {
  init(_ options: Store.PullOptions) {
    self.init(
      key: options.trustedKey, allowsUnsigned: options.allowsUnsigned,
      maximumAge: options.maximumAge.map { Int64(min(max($0 / .nanoseconds(1), 0), 9e18)) })
  }
}

/// What the clock says, in nanoseconds since 1970.
func wallClock() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }

extension DeliveryError {
  /// The site has no such pack: names those that may have been meant, or those that it has.
  init(noPack pack: PackID, in root: SiteRoot, at location: String) {
    let names = root.packs.map(\.id.name)
    let nearest = nearestNames(to: pack.name, among: names)
    let offered = nearest.isEmpty ? " (packs: \(listed(names)))" : ""
    self.init(.noPack, "the pack '\(pack)' is not offered\(offered)", at: location)
    self.pack = pack
    suggestions = nearest
  }

  /// What is wrong with a file of a site: what to do about it is not what helps with one of a store.
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
