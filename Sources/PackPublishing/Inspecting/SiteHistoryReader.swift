import PackAuthoring
import PackDelivery
import PackFormats
public import PackStore

/// Reads and checks the history of a channel, without a key: in a folder, in a bucket, or on a web server.
///
///     let history = try await SiteHistoryReader(.folder("public/packs")).run()
///     for change in history.changes { print(change.number, change.madeAt) }
///
/// Use it in one task at a time.
public struct SiteHistoryReader: Sendable {
  private let place: SiteStatusReader.Place

  /// - Parameter place: for a web server, the channels are ignored.
  public init(_ place: SiteStatusReader.Place) { self.place = place }

  /// The access to the files of one site.
  private struct Access {
    /// Returns the bytes of a root; `nil` if the channel has none.
    let root: (SiteChannel) async throws -> [UInt8]?

    /// Returns the bytes of a record; `nil` if it is missing.
    let record: (Digest256) async throws -> [UInt8]?

    /// Returns the bytes of the private part of a record; `nil` if it is missing, or not shown at this place.
    let note: (Digest256) async throws -> [UInt8]?
  }

  /// - Parameters:
  ///   - channel: the channel.
  ///   - limit: the number of changes to read, the newest ones; `nil` for all.
  /// - Throws: `notFound` if the channel does not exist; `notAStore`, `noSite`; `unreachable`, `denied`, `badResponse`; `untrusted`, `corrupt`
  ///   if the root is damaged; `ioError`, `outOfMemory`; `CancellationError`. Faults of records are part of the result.
  public func run(of channel: SiteChannel = .live, limit: Int? = nil) async throws -> SiteHistory {
    switch place {
    case .folder(let path):
      guard Site.exists(at: path) else {
        throw PackStoreError(.notAStore, "not a site", about: .site(path.string), detail: .noControlFile)
      }
      return try await read(channel, limit, Self.access(to: path))
    case .bucket(let bucket): return try await read(channel, limit, Self.access(to: bucket, try await bucket.notes()))
    case .served(let location, _):
      let served = try location.open(channels: [channel])
      do {
        let history = try await read(channel, limit, Self.access(to: served))
        await served.close()
        return history
      } catch {
        await served.close()
        throw error
      }
    }
  }

  private func read(_ channel: SiteChannel, _ limit: Int?, _ access: Access) async throws -> SiteHistory {
    guard let bytes = try await access.root(channel) else {
      throw PackStoreError(.notFound, "the site has no such channel", about: .channel(channel))
    }
    let signed = try SignedSiteRoot(decoding: bytes, file: SitePath.root(channel).description)
    guard signed.root.channel == channel else {
      throw PackStoreError(
        .corrupt, "the root belongs to the channel '\(signed.root.channel)'", about: .channel(channel))
    }
    var chain = try ChangeChain(of: signed, bytes)
    var history = SiteHistory(channel: channel, root: bytes, changeCount: chain.nextNumber)
    while let digest = chain.next, history.changes.count < limit ?? .max {
      try Task.checkCancellation()
      let found = try await access.record(digest)
      guard let found, let record = try? chain.add(found) else {
        history.fault = .init(
          path: SitePath.record(digest).description, number: chain.nextNumber, isMissing: found == nil)
        break
      }
      let note = record.privatePart == nil ? nil : try await access.note(digest)
      history.changes.append(.init(record, noteBytes: note))
    }
    return history
  }

  // MARK: - Places

  private static func access(to folder: FilePath) -> Access {
    func bytes(_ name: String, _ limit: Int) throws -> [UInt8]? {
      do { return try InputFile(name, in: folder).contents(limit: limit) } catch let error as PackStoreError
        where [.notFound, .wrongKind].contains(error.code)
      { return nil }
    }
    return Access(
      root: { try bytes(SitePath.root($0).description, SiteRoot.byteCountLimit) },
      record: { try bytes(SitePath.record($0).description, ChangeRecord.byteCount) },
      note: { try bytes("notes/\($0.hex)", SealedChangeNote.byteCountLimit) })
  }

  /// - Parameter notes: the blobs of private parts, by their records.
  private static func access(to bucket: BucketSite, _ notes: [Digest256: Digest256]) -> Access {
    func bytes(_ key: ObjectKey, _ limit: Int) async throws -> [UInt8]? {
      try await bucket.storage.read(key, limit: limit)?.bytes
    }
    return Access(
      root: { try await bytes(.file(.root($0)), SiteRoot.byteCountLimit) },
      record: { try await bytes(.file(.record($0)), ChangeRecord.byteCount) },
      note: { record in
        guard let blob = notes[record] else { return nil }
        return try await bytes(.blob(blob), SealedChangeNote.byteCountLimit)
      })
  }

  private static func access(to served: RemoteSiteCopy) -> Access {
    func bytes(_ path: SitePath, _ limit: Int) async throws -> [UInt8]? {
      do {
        return try await served.source.readWhole(path.description, upTo: limit).bytes
      } catch let error as DeliveryError where error.code == .noSite { return nil }
    }
    return Access(
      root: { channel in
        // A missing root of `live` means that no site is served there.
        if channel == .live { return try await served.readRoot(of: channel)?.bytes }
        return try await bytes(.root(channel), SiteRoot.byteCountLimit)
      }, record: { try await bytes(.record($0), ChangeRecord.byteCount) }, note: { _ in nil })
  }
}

extension BucketSite {
  /// Returns the blobs of the private parts of records, by the SHA-256 of the records.
  ///
  /// - Throws: `noSite`; `unreachable`, `denied`; `corrupt`, `untrusted`.
  fileprivate func notes() async throws -> [Digest256: Digest256] {
    try await committedFiles().reduce(into: [:]) { notes, entry in
      if case .note(let record) = entry.key { notes[record] = entry.value.digest }
    }
  }
}
