extension PackStoreError {
  /// There is no such pack; those that there are.
  package static func noPack(_ id: PackID, among packs: [Store.Pack]) -> Self {
    let names = packs.map(\.id.name).sorted().prefix(10).joined(separator: ", ")
    return Self(.notFound, "there is no pack '\(id)'; packs: \(packs.isEmpty ? "none" : names)")
  }

  /// A version is not kept; those that are.
  package static func notKept(_ number: UInt64, of pack: PackID, among versions: [PackVersion]) -> Self {
    let numbers = versions.map(\.number).sorted().map(String.init).joined(separator: ", ")
    return Self(.notFound, "\(pack)@\(number) is not kept; kept: \(numbers)")
  }
}
