import CPackStore
import CPackStoreTesting

extension Transaction {
  /// Where the data of purgeable packs goes.
  func chooseCache(_ folder: String, budget: UInt64 = 0) throws {
    try attempt { pks_txn_set_cache_folder(raw, folder, budget, $0) }
  }

  @discardableResult
  func place(_ pack: String, _ placement: pks_placement, byHand: Bool = true) throws -> pks_add_result {
    var result = pks_add_result()
    try attempt { pks_txn_set_placement(&result, raw, pack, placement, byHand, $0) }
    return result
  }
}

extension Store {
  func purge(_ bytes: UInt64) throws -> pks_purge_result {
    var result = pks_purge_result()
    try attempt { pks_store_purge(&result, raw, bytes, $0) }
    return result
  }
}

extension Snapshot {
  /// How much of a kept version is there; 0 is the current one.
  func availability(of pack: String, version: UInt32 = 0) throws -> pks_availability {
    var availability = pks_availability()
    let index = UInt32((packs + removedPacks).firstIndex { String(cString: $0.name) == pack }!)
    try attempt { pks_snapshot_availability(&availability, raw, index, version, $0) }
    return availability
  }

  func availability(ofAsset path: String) throws -> pks_availability {
    try withAsset(path) { asset in
      var availability = pks_availability()
      try attempt { pks_asset_availability(&availability, asset, $0) }
      return availability
    }
  }

  /// What can be read of a pack, and the paths of what was purged. Anything else that goes wrong is thrown.
  func readable(_ pack: String) throws -> (content: Folder, purged: Set<String>) {
    let index = UInt32(packs.firstIndex { String(cString: $0.name) == pack }!)
    var content: Folder = [:], purged: Set<String> = []
    for path in try paths(in: index) {
      do {
        content[path] = try find(path, in: index).node
      } catch let failure as Failure where failure.status == PKS_PURGED {
        purged.insert(path)
      }
    }
    return (content, purged)
  }

  private func paths(in pack: UInt32) throws -> [String] {
    let cursor = try opened { pks_cursor_open($0, raw, "", 0, pack, PKS_DESCENDANTS, $1) }
    defer { pks_cursor_close(cursor) }
    var entry = pks_entry(), more = true, paths: [String] = []
    while true {
      try attempt { pks_cursor_next(&entry, &more, cursor, $0) }
      guard more else { return paths }
      let path = UnsafeRawBufferPointer(start: entry.asset.path, count: Int(entry.asset.path_length))
      paths.append(String(decoding: path, as: UTF8.self))
    }
  }
}

extension Disk {
  /// The files of purgeable segments in `/cache`, as absolute paths.
  var cacheSegments: [String] {
    list("/cache").filter { $0.contains("/segments/") && !$0.hasSuffix("/") }.map { "/cache/\($0)" }.sorted()
  }

  /// What another hand does: a file is gone, or has only its first bytes.
  func vanish(_ path: String) { _ = sim_remove(raw, path) }
  func cut(_ path: String, to count: Int) {
    guard let bytes = read(path) else { return }
    write(Array(bytes.prefix(count)), to: path)
  }
}
