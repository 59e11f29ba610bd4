import PackFormats
import PackStore

/// Which versions that no channel offers stay on a site.
///
/// Builds that wait for a channel are counted apart from versions that were offered: so builds for tests do not displace the version
/// that a publisher can go back to.
struct VersionRetention {
  /// How many versions of a pack stay, the current one included. With 1, no version to go back to stays.
  let count: Int

  let history: OfferHistory

  /// The versions that leave the site.
  ///
  /// - Parameters:
  ///   - others: versions of a pack that neither a channel offers nor a pin keeps, the latest first.
  ///   - offers: the numbers that each channel offers of the pack. The version before them stays.
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
