#if Hosting
  import Foundation
  import PackFormats
  import PackStore

  /// The change from one root of a channel to the next, in lines for people.
  enum RootDifference {
    static func lines(from old: SiteRoot?, to new: SiteRoot) -> [String] {
      let packs = Set((old?.packs ?? []).map(\.id) + new.packs.map(\.id)).sorted()
      var lines = packs.flatMap { pack -> [String] in
        let before = offers(of: pack, in: old), after = offers(of: pack, in: new)
        let isTaken = (new.highest[pack]?.epoch ?? 0) == new.sequence && old != nil && !before.isEmpty
        guard before != after || isTaken else { return [] }
        return ["\(pack): \(after.isEmpty ? "none" : after) (before: \(before.isEmpty ? "none" : before))"]
          + (isTaken ? ["\(pack): devices may go back to a lower version"] : [])
      }
      if old?.isClosed == true || new.isClosed { lines.append("channel: \(new.isClosed ? "closed" : "open again")") }
      if old?.expiresAfter != new.expiresAfter {
        lines.append("validity: \(validity(new)) (before: \(old.map(validity) ?? "none"))")
      }
      return lines.isEmpty ? ["no offer changes"] : lines
    }

    private static func offers(of pack: PackID, in root: SiteRoot?) -> String {
      let offers = root?.packs.first { $0.id == pack }?.offers ?? []
      return offers.map { offer in
        let share = Double(offer.share) / 100
        let devices =
          offer.share == OfferTerms.everyDevice
          ? "all devices" : "\(share.formatted(.number.locale(Locale(identifier: "en_US")))) % of devices"
        let release = offer.release.map { ", in the release \($0)" } ?? ""
        return "version \(offer.number) for \(devices)\(release)"
      }.joined(separator: ", ")
    }

    private static func validity(_ root: SiteRoot) -> String {
      root.expiresAfter.map { "\($0 / 86_400_000_000_000) days" } ?? "unlimited"
    }
  }
#endif
