import CPackStore
import CPackStoreTesting
import Foundation

/// A simulated disk, freed with the last reference.
final class Disk {
  let raw: OpaquePointer

  init(seed: UInt64 = 1) { raw = sim_new(seed) }
  private init(raw: OpaquePointer) { self.raw = raw }
  /// State number `index` of those that a power cut now may leave on a disk, as `crashes` numbers them.
  convenience init(sample disk: Disk, budget: UInt64, seed: UInt64, index: UInt64) {
    self.init(raw: sim_sample(disk.raw, budget, seed, index))
  }
  deinit { sim_free(raw) }

  var vfs: UnsafePointer<pks_vfs> { sim_vfs(raw) }

  func clone() -> Disk { Disk(raw: sim_clone(raw)) }
  func crash(_ mode: sim_crash_mode, seed: UInt64 = 0) -> Disk { Disk(raw: sim_crash(raw, mode, seed)) }

  /// States that a power cut now may leave: all when they are few, else a sample of `budget`.
  func crashes(budget: UInt64, seed: UInt64) -> [Disk] {
    (0..<sim_sample_count(raw, budget)).map { Disk(raw: sim_sample(raw, budget, seed, $0)) }
  }

  func put(_ folder: Folder, at root: String) {
    if exists(root) { _ = sim_remove(raw, root) }
    sim_put_folder(raw, root)
    for (path, node) in folder.sorted(by: { $0.key < $1.key }) {
      switch node {
      case .file(let bytes, let executable):
        sim_put_file(raw, "\(root)/\(path)", bytes, bytes.count)
        if executable { _ = sim_set_executable(raw, "\(root)/\(path)", true) }
      case .link(let target): sim_put_link(raw, "\(root)/\(path)", target)
      case .folder: sim_put_folder(raw, "\(root)/\(path)")
      }
    }
  }

  func exists(_ path: String) -> Bool { sim_exists(raw, path) }

  func read(_ path: String) -> [UInt8]? {
    var count = 0
    guard let bytes = sim_read_file(raw, path, &count) else { return nil }
    defer { free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// Puts a file there, as if it had always been: a loss of power does not take it.
  func write(_ bytes: [UInt8], to path: String) { sim_put_file(raw, path, bytes, bytes.count) }

  /// Everything below a folder, one path each.
  func list(_ folder: String) -> [String] {
    guard let text = sim_list(raw, folder) else { return [] }
    defer { free(text) }
    return String(cString: text).split(separator: "\n").map(String.init)
  }

  func startTrace() { sim_set_trace(raw, true) }
  var trace: String { String(cString: sim_trace(raw)) }
  var counts: sim_counts { sim_counts_now(raw) }
  var hasLeaks: Bool { counts.handles + counts.maps + counts.locks != 0 }
}
