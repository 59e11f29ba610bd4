import PackFormats
import PackStore

/// Determines which versions stay on a site although no channel offers them.
///
/// Builds that were never offered are counted separately from offered versions. Builds for tests therefore do not displace the
/// version that a publisher can go back to.
struct VersionRetention {
  /// The number of versions of a pack that stay, including the current version. With 1, no version to go back to stays.
  let count: Int

  let history: OfferHistory

  /// Returns the versions that leave the site.
  ///
  /// - Parameters:
  ///   - others: the versions of a pack that no channel offers and no pin keeps, the latest first.
  ///   - offers: the numbers of the pack's versions that each channel offers. The version before them stays.
  func surplus(among others: [PackVersion], of pack: PackID, beside offers: [SiteChannel: [UInt64]]) -> [PackVersion] {
    let numbers = Set(others.map(\.number)), highestOffer = offers.values.joined().max() ?? 0
    let previous = Set(count > 1 ? offers.keys.compactMap { history.previous(of: pack, on: $0, among: numbers) } : [])
    var waiting: [PackVersion] = [], offered: [PackVersion] = [], superseded: [PackVersion] = []
    for version in others where !previous.contains(version.number) {
      if history.contains(version.number, of: pack) {
        offered.append(version)
      } else if version.number > highestOffer {
        waiting.append(version)
      } else {
        superseded.append(version)
      }
    }
    let surplus =
      waiting.dropFirst(count - 1) + (offered + superseded).dropFirst(max(count - 1 - previous.count, 0))
    return others.filter(surplus.contains)
  }
}
