import PackStore

/// The maximum number of names in a folder that are compared with the missing name.
private let searchedNameLimit = 20_000

extension Snapshot {
  /// Returns the asset at a path. If it is missing, the error suggests similar names.
  @_lifetime(borrow self)
  func find(_ path: String, in pack: PackID?) throws -> Asset {
    do {
      return try asset(path, pack: pack)
    } catch let error as PackStoreError where error.detail == .noAsset {
      throw (try? explain(Failure(error), path, pack)) ?? error
    }
  }

  private func explain(_ failure: Failure, _ path: String, _ pack: PackID?) throws -> Failure {
    var failure = failure
    if pack != nil, let owner = try? asset(path).pack {
      failure.remedy = "it is in the pack '\(owner)'"
      return failure
    }
    let (folder, missing) = nearestFolder(of: path, pack)
    let names = try names(in: folder, pack)
    let prefix = folder.isEmpty ? "" : folder + "/"
    // Swift compares strings by canonical equivalence, not by their bytes.
    if let same = names.first(where: { $0 == missing && !$0.utf8.elementsEqual(missing.utf8) }) {
      failure.facts.suggestions = [prefix + same]
      failure.remedy =
        "copy the name from 'packstore ls': '\(escaped(prefix) + same.withVisibleForm)' is the same text in another Unicode"
        + " normal form"
      return failure
    }
    let nearest = nearestNames(to: missing, among: names).map { prefix + $0 }
    failure.facts.suggestions = nearest
    if !nearest.isEmpty {
      failure.remedy = "did you mean \(alternatives(nearest.map { escaped($0) }))?"
    } else if !names.isEmpty {
      let place = folder.isEmpty ? "the top folder" : "'\(escaped(folder))'"
      failure.remedy = "\(place) has \(listed(names.map { escaped($0) }))"
    }
    return failure
  }

  /// Returns the deepest existing folder of a path, and the name that is missing in it.
  private func nearestFolder(of path: String, _ pack: PackID?) -> (folder: String, missing: String) {
    // Splits bytes, because a slash and a following combining accent are one `Character`.
    var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    var missing = parts.popLast() ?? ""
    while !parts.isEmpty {
      let folder = parts.joined(separator: "/")
      if (try? asset(folder, pack: pack).kind) == .folder { return (folder, missing) }
      missing = parts.removeLast()
    }
    return ("", missing)
  }

  private func names(in folder: String, _ pack: PackID?) throws -> [String] {
    var names: [String] = []
    var cursor = try cursor(in: folder, pack: pack)
    while names.count < searchedNameLimit, let asset = try cursor.next() {
      names.append(
        String(decoding: asset.path.utf8.dropFirst(folder.isEmpty ? 0 : folder.utf8.count + 1), as: UTF8.self))
    }
    return names
  }
}
