import CPackStore
import CPackStoreTesting
import Foundation

/// All that a store shows, as one run of bytes: two that show the same have the same. Compared very often, so `==` is one
/// call of the C library.
final class Picture: Equatable, @unchecked Sendable {
  private var bytes = UnsafeMutableRawPointer.allocate(byteCount: 1 << 18, alignment: 16)
  private var capacity = 1 << 18
  private var count = 0

  deinit { bytes.deallocate() }

  static func == (left: Picture, right: Picture) -> Bool {
    left.count == right.count && memcmp(left.bytes, right.bytes, left.count) == 0
  }

  var sum: UInt64 { pks__checksum(bytes, count) }

  /// Room for so many bytes more, which count as part of it.
  fileprivate func room(_ more: Int) -> UnsafeMutableRawPointer {
    if count + more > capacity {
      capacity = 2 * (count + more)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      larger.copyMemory(from: bytes, byteCount: count)
      bytes.deallocate()
      bytes = larger
    }
    defer { count += more }
    return bytes + count
  }

  fileprivate func add(_ from: UnsafeRawPointer?, _ length: Int) {
    add(UInt64(length))
    if length > 0 { room(length).copyMemory(from: from!, byteCount: length) }
  }

  fileprivate func add(_ number: UInt64) { room(8).storeBytes(of: number, toByteOffset: 0, as: UInt64.self) }
}

extension Snapshot {
  /// What `state` compares, read through in full, and the order of packs; much faster, for campaigns that look at very many.
  func picture() throws -> Picture {
    let picture = Picture()
    for index in 0..<pks_snapshot_pack_count(raw) {
      let pack = pks_snapshot_pack(raw, index)
      picture.add(pack.name, strlen(pack.name))
      picture.add(UInt64(bitPattern: Int64(pack.priority)))
      picture.add(pack.current.number)
      let cursor = try opened { pks_cursor_open($0, raw, "", 0, index, PKS_DESCENDANTS, $1) }
      defer { pks_cursor_close(cursor) }
      var entry = pks_entry(), more = true
      while true {
        try attempt { pks_cursor_next(&entry, &more, cursor, $0) }
        guard more else { break }
        try add(&entry.asset, to: picture)
      }
    }
    return picture
  }

  private func add(_ asset: inout pks_asset, to picture: Picture) throws {
    picture.add(asset.path, Int(asset.path_length))
    picture.add(UInt64(asset.kind.rawValue) << 2 | (asset.executable ? 2 : 0) | (asset.mapped ? 1 : 0))
    if asset.kind == PKS_FILE {
      picture.add(asset.size)
      let bytes = picture.room(Int(asset.size))
      try attempt { pks_asset_read(&asset, 0, bytes, Int(asset.size), $0) }
    } else if asset.kind == PKS_LINK {
      var target = pks_bytes()
      try attempt { pks_asset_link_target(&target, &asset, $0) }
      picture.add(target.bytes, target.count)
    }
  }
}
