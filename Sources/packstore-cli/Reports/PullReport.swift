import PackDelivery
import PackStore

extension Store.PullResult.Pack {
  /// Returns the outcome as lines of text; empty if a warning or failure reports it.
  func lines(isDryRun: Bool) -> [String] {
    switch outcome {
    case .held, .absent, .notOffered, .otherOrigin, .stale, .purged, .reusedNumber, .publisherOutOfDate,
      .releaseIncomplete, .missingFiles:
      return []
    case .unchanged: return ["\(pack) is at version \(from ?? 0) already" + withheldText]
    case .updated, .healed: break
    }
    let version = to ?? 0
    let isHealed = outcome == .healed
    let whence =
      isHealed
      ? ", repaired: \(missingByteCount > 0 ? formatBytes(missingByteCount) : "parts of its catalog") were missing"
      : from.map { ", from \($0)" } ?? ""
    let resumed = resumedByteCount > 0 ? ", \(formatBytes(resumedByteCount)) were downloaded before" : ""
    guard !isDryRun else {
      let new =
        deltaText.map { "\(formatBytes(totalByteCount)), \($0)" }
        ?? "\(formatBytes(totalByteCount)) in \(formatCount(newChunkCount, "chunk"))"
      return [
        "\(pack) would be at version \(version)\(whence)",
        "  new      \(new)\(resumed)",
        "  fetch    \(formatBytes(remainingByteCount))",
      ]
    }
    let fetched =
      deltaText.map { "\(formatBytes(deltaByteCount + frameByteCount)), \($0)," }
      ?? formatBytes(frameByteCount)
      + (deltaByteCount > 0 ? ", after \(formatBytes(deltaByteCount)) of an unusable delta," : "")
    return [
      "\(pack) is at version \(version)\(whence)",
      "  fetched  \(fetched) and \(formatBytes(metadataByteCount)) of metadata in "
        + formatCount(requestCount, "request") + resumed,
      "  stored   \(formatBytes(newStoredByteCount)) in \(formatCount(newChunkCount, "new chunk"))",
    ]
  }
}

extension Store.PullResult.Pack {
  /// The newest version, if it is not installed.
  private var withheldText: String {
    withheld.map { "; version \($0.version) is not installed: \($0.words)" } ?? ""
  }

  /// The deltas that the pack is downloaded with; `nil` if it is downloaded by ranges.
  private var deltaText: String? {
    deltaFrom.map {
      deltaCount > 1 ? "a chain of \(deltaCount) deltas from version \($0)" : "a delta from version \($0)"
    }
  }
}

extension Store.PullResult {
  /// Returns the result as lines of text.
  func lines(_ duration: Duration, isDryRun: Bool) -> [String] {
    let others =
      otherPacks.isEmpty
      ? [] : ["not installed: \(listed(otherPacks.map(\.name))); 'packstore pull --all' installs all packs"]
    return packs.flatMap { $0.lines(isDryRun: isDryRun) } + others + [summary(duration)]
  }

  /// Returns the downloaded bytes, the number of requests, the duration and the rate.
  private func summary(_ duration: Duration) -> String {
    "\(formatBytes(wireByteCount)) in \(formatCount(requestCount, "request")), "
      + "\(formatDuration(duration)), \(formatRate(wireByteCount, in: duration))"
  }

  /// The warnings about an old root and about packs that were not changed.
  var warnings: [Warning] {
    var warnings: [Warning] = []
    if let movedTo {
      warnings.append(.init(.movedSite, "the site moved to '\(escaped(movedTo))': the store follows it"))
    }
    if let refused = refusedMove {
      warnings.append(
        .init(
          .movedSite,
          "the site moved to '\(escaped(refused.location))', which cannot be used (\(escaped(refused.reason))); the former place was"
            + " used"))
    }
    if isStale {
      warnings.append(
        .init(
          .staleRoot,
          "the site's root is older than a root seen before: nothing was changed; the mirror may be out of date"))
    } else if age > .seconds(30 * 86_400) {
      let days = Int(age / .seconds(86_400))
      warnings.append(.init(.oldRoot, "the site's root was made \(days) days ago; '--max-age' refuses old ones"))
    }
    return warnings
      + packs.compactMap { pack in pack.warning(isStaleRoot: isStale).map { Warning(.skippedPack, $0) } }
  }
}

extension Store.PullResult {
  /// Warns if another site that the store follows has the same root key and product, and is not a copy of this one.
  func warnOfSharedKey(site: String) {
    guard let other = siteOfSameKey else { return }
    let product = origin.product.map { " for the product '\($0)'" } ?? ""
    warn(
      .sharedKey,
      "'\(escaped(withoutSecrets(site)))' and '\(escaped(withoutSecrets(other)))' are not copies of each other, but one root key signs"
        + " both\(product): packs of the same name replace each other; ask the publisher to use different products")
  }

  /// Returns the failure for packs that were skipped because of their publisher's mistake; `nil` if none was skipped. The
  /// command reports it after the other packs were updated.
  ///
  /// - Parameters:
  ///   - store: the name of the store.
  ///   - site: the location of the site.
  func skippedPackFailure(store: String, site: String) -> Failure? {
    reusedNumberFailure(store: store, site: site) ?? outOfDateFailure(store: store) ?? missingFilesFailure
  }

  private var missingFilesFailure: Failure? {
    let skipped = packs.filter { $0.outcome == .missingFiles }
    guard let first = skipped.first else { return nil }
    let names = skipped.map { "\($0.pack)@\($0.to ?? 0)" }.joined(separator: ", ")
    return Failure(
      .siteChanged, "\(names): the site lacks files of the version; not updated",
      remedy: "try again later; if the error persists, report it to the publisher of the site", pack: first.pack)
  }

  private func outOfDateFailure(store: String) -> Failure? {
    let skipped = packs.filter { $0.outcome == .publisherOutOfDate }
    guard let first = skipped.first else { return nil }
    let names = skipped.map { "\($0.pack)@\($0.to ?? 0)" }.joined(separator: ", ")
    return Failure(
      .publisherOutOfDate, "\(names): the publisher signed an older state than '\(escaped(store))' has; not updated",
      remedy: "ask the publisher to publish again from the newest state of the site", pack: first.pack)
  }

  private func reusedNumberFailure(store: String, site: String) -> Failure? {
    let refused = packs.filter { $0.outcome == .reusedNumber }
    guard let first = refused.first else { return nil }
    let names = refused.map { "\($0.pack)@\($0.to ?? 0)" }.joined(separator: ", ")
    let (store, site) = (escaped(store), escaped(withoutSecrets(site)))
    return Failure(
      .exists, "\(names): the site offers other content under the number of a version in '\(store)'; not updated",
      remedy: "ask the publisher for a higher version number, or run 'packstore remove \(store) \(first.pack)' and"
        + " 'packstore pull \(store) \(site) \(first.pack)'", pack: first.pack)
  }
}

extension Store.PullResult.Pack {
  fileprivate func warning(isStaleRoot: Bool) -> String? {
    switch outcome {
    case .stale where !isStaleRoot:
      "the site's state of \(pack) is older than an accepted state; the pack was not changed"
    case .notOffered: "no version of \(pack) supports this app, platform and device; the pack was not changed"
    case .held: "\(pack) is held at version \(from ?? 0) and was not changed: see 'packstore unpin'"
    case .absent: "the site no longer has the pack \(pack); it was not changed: 'packstore remove' deletes it"
    case .purged:
      "\(pack) was purged and lacks \(formatBytes(missingByteCount)); it was not changed: name it, or add '--refetch'"
    case .releaseIncomplete:
      "\(pack) was not changed: its release needs \(blockingPack?.name ?? "another pack"), which cannot be installed"
    case .stale, .unchanged, .updated, .healed, .otherOrigin, .reusedNumber, .publisherOutOfDate, .missingFiles: nil
    }
  }
}

extension Store.PullResult.Pack.Outcome {
  /// The outcome in JSON.
  var word: String {
    switch self {
    case .otherOrigin: "other_origin"
    case .notOffered: "not_offered"
    case .reusedNumber: "reused_number"
    case .missingFiles: "missing_files"
    case .publisherOutOfDate: "publisher_out_of_date"
    case .releaseIncomplete: "release_incomplete"
    default: rawValue
    }
  }
}

/// The result of a pull as JSON.
struct PullReport: Encodable {
  let packs: [PulledPackReport]
  let others: [String]
  let key: String?
  let origin, product, channel: String?
  let madeAt: String
  let age: Int
  let expiresAt: String?
  let stale, firstContact, dryRun: Bool
  let wireBytes, requests: Int
  let seconds: Double

  init(_ result: Store.PullResult, _ duration: Duration, isDryRun: Bool) {
    packs = result.packs.map(PulledPackReport.init)
    others = result.otherPacks.map(\.name)
    key = result.key?.description
    origin = result.isStale ? nil : result.origin.id
    product = result.origin.product?.name
    channel = result.channel?.name
    madeAt = formatDate(result.madeAt)
    age = Int(result.age / .seconds(1))
    expiresAt = result.expiresAt.map(formatDate)
    stale = result.isStale
    firstContact = result.isFirstContact
    dryRun = isDryRun
    wireBytes = result.wireByteCount
    requests = result.requestCount
    seconds = duration / .seconds(1)
  }
}

/// The outcome for one pack as JSON.
struct PulledPackReport: Encodable {
  let pack, outcome: String
  let from, to, deltaFrom: UInt64?
  let deltas: Int
  let metadataBytes, frameBytes, deltaBytes, requests, resumedBytes, totalBytes, remainingBytes: Int
  let newChunks, newStoredBytes, missingBytes: Int
  let withheld: WithheldReport?

  init(_ pack: Store.PullResult.Pack) {
    self.pack = pack.pack.name
    outcome = pack.outcome.word
    from = pack.from
    to = pack.to
    metadataBytes = pack.metadataByteCount
    frameBytes = pack.frameByteCount
    deltaBytes = pack.deltaByteCount
    deltaFrom = pack.deltaFrom
    deltas = pack.deltaCount
    requests = pack.requestCount
    resumedBytes = pack.resumedByteCount
    totalBytes = pack.totalByteCount
    remainingBytes = pack.remainingByteCount
    newChunks = pack.newChunkCount
    newStoredBytes = pack.newStoredByteCount
    missingBytes = pack.missingByteCount
    withheld = pack.withheld.map(WithheldReport.init)
  }
}
