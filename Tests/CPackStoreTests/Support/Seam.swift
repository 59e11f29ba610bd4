import CPackStore
import CPackStoreTesting

/// A `pks_vfs` in front of the machine's, or a simulated disk's: sees every call before it happens, and may refuse it.
///
/// `onCall` runs on the thread that makes the call; what it does to the disk happens between two calls of the core, as if
/// another process had done it. It is not called for what cannot fail (`close`, `unmap`, clocks and the like), nor from
/// within itself.
final class Seam: @unchecked Sendable {
  enum Call: Sendable {
    case openRoot, open, info, infoOf, readLink, list, read, write, preallocate, sync, makeFolder, rename, unlink, map
    case mapPrivate, memoryFile, seal, touch, lock, lockHeld, random, bootID, freeBytes
  }

  private let inner: UnsafePointer<pks_vfs>
  private let disk: Disk?  // outlives the seam
  private let table: UnsafeMutablePointer<pks_vfs>
  private var isInside = false

  /// Returns 0 to let the call through, or the errno with which it fails.
  var onCall: ((Call) -> Int32)?
  /// The same for calls of several threads at once; set it while none is under way.
  var onCallOfAnyThread: (@Sendable (Call) -> Int32)?
  /// What `map_is_live` says, but never more than the seam behind.
  var isMappingLive = true
  /// What `privacy` says in the place of the seam behind.
  var privacy: pks_vfs_privacy?
  /// Answers `find_data`; with `nil` the seam behind does.
  var onHole: ((UInt64, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt64>) -> Int32?)?
  /// Changes what `info_of` says of a file.
  var onInfo: ((inout pks_vfs_info) -> Void)?

  var vfs: UnsafePointer<pks_vfs> { UnsafePointer(table) }

  init(_ disk: Disk? = nil) {
    self.disk = disk
    inner = disk?.vfs ?? pks_vfs_posix()
    table = .allocate(capacity: 1)
    table.initialize(to: inner.pointee)
    table.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    forwardNames()
    forwardBytes()
    forwardMappings()
    forwardTheRest()
  }

  deinit { table.deallocate() }

  private func enter(_ call: Call) -> Int32 {
    if let onCallOfAnyThread { return onCallOfAnyThread(call) }
    guard !isInside, let onCall else { return 0 }
    isInside = true
    defer { isInside = false }
    return onCall(call)
  }

  /// Asks `onCall`, then makes the call on the seam behind.
  private static func pass(
    _ context: UnsafeMutableRawPointer?, _ call: Call, _ body: (pks_vfs, UnsafeMutableRawPointer?) -> Int32
  ) -> Int32 {
    let seam = Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue()
    let refusal = seam.enter(call)
    return refusal != 0 ? refusal : body(seam.inner.pointee, seam.inner.pointee.context)
  }

  private static func behind(_ context: UnsafeMutableRawPointer?) -> pks_vfs {
    Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue().inner.pointee
  }

  private func forwardNames() {
    table.pointee.open_root = { context, path, create, out in
      Seam.pass(context, .openRoot) { $0.open_root($1, path, create, out) }
    }
    table.pointee.open = { context, folder, path, mode, out in
      Seam.pass(context, .open) { $0.open($1, folder, path, mode, out) }
    }
    table.pointee.close = { context, file in
      let inner = Seam.behind(context)
      inner.close(inner.context, file)
    }
    table.pointee.info = { context, folder, path, follow, out in
      Seam.pass(context, .info) { $0.info($1, folder, path, follow, out) }
    }
    table.pointee.info_of = { context, file, out in
      Seam.pass(context, .infoOf) {
        let failure = $0.info_of($1, file, out)
        if failure == 0 { Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue().onInfo?(&out.pointee) }
        return failure
      }
    }
    table.pointee.read_link = { context, folder, path, out, capacity, length in
      Seam.pass(context, .readLink) { $0.read_link($1, folder, path, out, capacity, length) }
    }
    table.pointee.list = { context, folder, visit, visitContext in
      Seam.pass(context, .list) { $0.list($1, folder, visit, visitContext) }
    }
    table.pointee.make_folder = { context, folder, path in
      Seam.pass(context, .makeFolder) { $0.make_folder($1, folder, path) }
    }
    table.pointee.rename = { context, folder, from, to in
      Seam.pass(context, .rename) { $0.rename($1, folder, from, to) }
    }
    table.pointee.unlink = { context, folder, path, isFolder in
      Seam.pass(context, .unlink) { $0.unlink($1, folder, path, isFolder) }
    }
    table.pointee.touch = { context, folder, path in Seam.pass(context, .touch) { $0.touch($1, folder, path) } }
  }

  private func forwardBytes() {
    table.pointee.read_at = { context, file, offset, out, count, got in
      Seam.pass(context, .read) { $0.read_at($1, file, offset, out, count, got) }
    }
    table.pointee.find_data = { context, file, offset, begin, end in
      let seam = Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue()
      if let answer = seam.onHole?(offset, begin, end) { return answer }
      let inner = seam.inner.pointee
      return inner.find_data?(inner.context, file, offset, begin, end) ?? 0
    }
    table.pointee.write_at = { context, file, offset, bytes, count in
      Seam.pass(context, .write) { $0.write_at($1, file, offset, bytes, count) }
    }
    table.pointee.preallocate = { context, file, size in
      Seam.pass(context, .preallocate) { $0.preallocate($1, file, size) }
    }
    table.pointee.sync = { context, file in Seam.pass(context, .sync) { $0.sync($1, file) } }
    table.pointee.advise = { context, file, offset, count, willNeed in
      let inner = Seam.behind(context)
      inner.advise(inner.context, file, offset, count, willNeed)
    }
    table.pointee.memory_file = { context, label, out in
      Seam.pass(context, .memoryFile) { $0.memory_file($1, label, out) }
    }
    table.pointee.seal = { context, file in Seam.pass(context, .seal) { $0.seal($1, file) } }
  }

  private func forwardMappings() {
    table.pointee.map = { context, file, count, writable, out in
      Seam.pass(context, .map) { $0.map($1, file, count, writable, out) }
    }
    table.pointee.map_private = { context, file, offset, count, out in
      Seam.pass(context, .mapPrivate) { $0.map_private($1, file, offset, count, out) }
    }
    table.pointee.unmap = { context, address, count in
      let inner = Seam.behind(context)
      inner.unmap(inner.context, address, count)
    }
    table.pointee.map_is_live = { context, file in
      let inner = Seam.behind(context)
      let isLive = Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue().isMappingLive
      return isLive && inner.map_is_live(inner.context, file)
    }
    table.pointee.privacy = { context, file in
      let inner = Seam.behind(context)
      return Unmanaged<Seam>.fromOpaque(context!).takeUnretainedValue().privacy ?? inner.privacy(inner.context, file)
    }
    table.pointee.lock = { context, file, offset, length, kind in
      Seam.pass(context, .lock) { $0.lock($1, file, offset, length, kind) }
    }
    table.pointee.lock_held = { context, file, offset, length, held in
      Seam.pass(context, .lockHeld) { $0.lock_held($1, file, offset, length, held) }
    }
  }

  private func forwardTheRest() {
    table.pointee.now_ns = { context in
      let inner = Seam.behind(context)
      return inner.now_ns(inner.context)
    }
    table.pointee.monotonic_ns = { context in
      let inner = Seam.behind(context)
      return inner.monotonic_ns(inner.context)
    }
    table.pointee.sleep_ns = { context, ns in
      let inner = Seam.behind(context)
      return inner.sleep_ns(inner.context, ns)
    }
    table.pointee.random = { context, out, count in Seam.pass(context, .random) { $0.random($1, out, count) } }
    table.pointee.processor_count = { context in
      let inner = Seam.behind(context)
      return inner.processor_count(inner.context)
    }
    table.pointee.boot_id = { context, out in Seam.pass(context, .bootID) { $0.boot_id($1, out) } }
    table.pointee.process_id = { context in
      let inner = Seam.behind(context)
      return inner.process_id(inner.context)
    }
    table.pointee.fork_mark = { context, out in
      let inner = Seam.behind(context)
      return inner.fork_mark(inner.context, out)
    }
    table.pointee.fork_unmark = { context, mark in
      let inner = Seam.behind(context)
      inner.fork_unmark(inner.context, mark)
    }
    table.pointee.free_bytes = { context, folder, out in
      Seam.pass(context, .freeBytes) { $0.free_bytes($1, folder, out) }
    }
  }
}
