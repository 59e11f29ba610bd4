import PackFormats
import PackStore

extension Site {
  /// Drafts the next root of a channel that this publisher's key may not sign.
  ///
  /// The draft has the offers of another channel, which this publisher writes first: so all files exist, and stay as long as that
  /// channel offers them. Numbers and epochs follow the channel's own root.
  ///
  /// - Parameters:
  ///   - predecessor: the channel's published root; `nil` if it has none.
  ///   - model: the published root of the other channel.
  /// - Throws: errors of reading the site's store.
  package func rootDraft(
    of channel: SiteChannel, after predecessor: SiteRoot?, offering model: SiteRoot
  ) throws -> SiteRoot {
    let now = nanosecondsSince1970(), last = predecessor?.madeAt ?? 0, snapshot = try store.makeSnapshot()
    var next = predecessor ?? model
    next.channel = channel
    next.madeAt = last > now.addingClamped(SiteRoot.clockTolerance) ? now : max(now, last)
    next.sequence = SiteRoot.nextSequence(after: predecessor?.sequence, at: next.madeAt)
    next.isClosed = false
    // The records of a history name the key that signed, which is not known here.
    next.setHistoryHead(nil)
    next.expiresAfter = predecessor?.expiresAfter ?? model.expiresAfter
    (next.sheets, next.primaryLanguage) = (model.sheets, model.primaryLanguage)
    let epochs = OfferEpochs(current: predecessor, known: [:], sequence: next.sequence, date: next.madeAt) {
      pack, number in
      snapshot.version(number, of: pack).flatMap { version in try? snapshot.attributes(of: version).platforms }
    }
    (next.packs, next.highest) = epochs.stamp(model.packs)
    return next
  }
}
