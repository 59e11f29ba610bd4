extension PackStoreError {
  /// The pack does not exist. The error lists similar names, or all packs.
  ///
  /// - Parameter place: the place that was searched, such as "the site".
  package static func noPack(_ id: PackID, among packs: some Sequence<PackID>, of place: String? = nil) -> Self {
    let names = packs.map(\.name).sorted()
    let nearest = nearestNames(to: id.name, among: names)
    let fault = "not in \(place ?? "the store")"
    var error = Self(
      .notFound, nearest.isEmpty ? "\(fault) (packs: \(listed(names)))" : fault, about: .pack(id), detail: .noPack)
    error.specificRemedy = nearest.isEmpty ? nil : "did you mean \(alternatives(nearest))?"
    error.suggestions = nearest
    return error
  }

  /// The version is not kept. The error lists the kept versions.
  package static func notKept(_ number: UInt64, of pack: PackID, among versions: [PackVersion]) -> Self {
    naming(versions, of: pack, .version(pack, number), "not kept", .noVersion)
  }

  /// No version before this one is kept.
  package static func noneBefore(_ version: PackVersion, among versions: [PackVersion]) -> Self {
    let subject = Subject.version(version.pack, version.number)
    return naming(versions, of: version.pack, subject, "no earlier version is kept", .noEarlierVersion)
  }

  /// The pack was removed, and versions of it are kept.
  static func removed(_ pack: PackID, keeping versions: [PackVersion]) -> Self {
    var error = naming(versions, of: pack, .pack(pack), "removed", .packRemoved)
    error.specificRemedy = "roll back to a kept version first"
    return error
  }

  private static func naming(
    _ versions: [PackVersion], of pack: PackID, _ subject: Subject, _ fault: String, _ detail: Detail
  ) -> Self {
    let kept = versions.map(\.number).sorted()
    var error = Self(
      .notFound, "\(fault) (kept: \(listed(kept.map(String.init))))", about: subject, detail: detail)
    error.suggestions = kept.prefix(10).map { "\(pack)@\($0)" }
    return error
  }
}
