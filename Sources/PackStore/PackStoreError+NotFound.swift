extension PackStoreError {
  /// There is no such pack: those that may have been meant, or those that there are.
  ///
  /// - Parameter place: what has the packs, such as "the site".
  package static func noPack(_ id: PackID, among packs: some Sequence<PackID>, of place: String? = nil) -> Self {
    let names = packs.map(\.name).sorted()
    let nearest = nearestNames(to: id.name, among: names)
    let finding = place.map { "\($0) has no pack '\(id)'" } ?? "there is no pack '\(id)'"
    var error = Self(.notFound, nearest.isEmpty ? "\(finding); packs: \(listed(names))" : finding)
    error.specificRemedy = nearest.isEmpty ? nil : "did you mean \(alternatives(nearest))?"
    error.suggestions = nearest
    error.pack = id
    return error
  }

  /// A version is not kept: those that are.
  package static func notKept(_ number: UInt64, of pack: PackID, among versions: [PackVersion]) -> Self {
    naming(versions, of: pack, "\(pack)@\(number) is not kept")
  }

  /// No version was current before this one, of those that are kept.
  package static func noneBefore(_ version: PackVersion, among versions: [PackVersion]) -> Self {
    naming(versions, of: version.pack, "no version before \(version) is kept")
  }

  /// The pack was removed, and versions of it are kept.
  static func removed(_ pack: PackID, keeping versions: [PackVersion]) -> Self {
    var error = naming(versions, of: pack, "the pack '\(pack)' was removed")
    error.specificRemedy = "roll back to a kept version first"
    return error
  }

  private static func naming(_ versions: [PackVersion], of pack: PackID, _ finding: String) -> Self {
    let kept = versions.map(\.number).sorted()
    var error = Self(.notFound, "\(finding); kept: \(listed(kept.map(String.init)))")
    error.suggestions = kept.prefix(10).map { "\(pack)@\($0)" }
    error.pack = pack
    return error
  }
}
