#if Hosting
  import GRDB
  import PackAuthoring
  import PackFormats
  import PackStore

  extension ReleaseRecord {
    /// Returns the release of several packs that the approved submission of the version forms; `nil` if the submission has no other
    /// pack. The id of the release is the id of the submission.
    func packRelease(in database: Database) throws -> PackRelease? {
      let row = try Row.fetchOne(
        database,
        sql: """
          SELECT s.id, (SELECT COUNT(*) FROM submissionItem o
            WHERE o.submissionID = s.id AND o.state = 'APPROVED' AND o.versionID IS NOT NULL) AS packs
          FROM submission s JOIN submissionItem i ON i.submissionID = s.id
          WHERE i.versionID = ? AND i.state = 'APPROVED' AND s.context = ? ORDER BY s.createdDate DESC, s.id LIMIT 1
          """, arguments: [versionID, context])
      guard let row, (row["packs"] as Int? ?? 0) > 1 else { return nil }
      let digits = (row["id"] as String? ?? "").replacing("-", with: "")
      return PackReleaseID(digits).map { PackRelease(id: $0) }
    }
  }

  extension Site.PlannedOffer {
    /// Returns offers without releases whose members have different shares: a person changed the share of one pack.
    static func withoutDividedReleases(_ offers: [PackID: [Self]]) -> [PackID: [Self]] {
      var shares: [PackRelease: Set<DeviceShare>] = [:]
      for offer in offers.values.joined() {
        if let release = offer.release { shares[release, default: []].insert(offer.share) }
      }
      return offers.mapValues { offers in
        offers.map { offer in
          var offer = offer
          if let release = offer.release, shares[release]?.count != 1 { offer.release = nil }
          return offer
        }
      }
    }
  }
#endif
