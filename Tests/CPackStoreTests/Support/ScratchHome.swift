import CPackHash
import CPackStore
import CPackStoreTesting

/// A folder of a simulated disk where the core's lower layers may write.
final class ScratchHome {
  let disk = Disk()
  let folder: UnsafeMutablePointer<pks__scratch_folder>

  init() {
    var handle: pks_vfs_file = -1
    let error = disk.vfs.pointee.open_root(disk.vfs.pointee.context, "/home", true, &handle)
    precondition(error == 0)
    folder = .allocate(capacity: 1)
    folder.initialize(to: pks__scratch_folder())
    folder.pointee.vfs = disk.vfs
    folder.pointee.folder = handle
  }

  deinit {
    disk.vfs.pointee.close(disk.vfs.pointee.context, folder.pointee.folder)
    folder.deallocate()
  }

  var vfs: UnsafePointer<pks_vfs> { disk.vfs }
  var handle: pks_vfs_file { folder.pointee.folder }

  /// Writes a whole file below the folder.
  func put(_ name: String, _ bytes: [UInt8]) { sim_put_file(disk.raw, "/home/\(name)", bytes, bytes.count) }
  func read(_ name: String) -> [UInt8] { disk.read("/home/\(name)")! }

  func open(_ name: String, _ mode: pks_vfs_open_mode) -> pks_vfs_file {
    var file: pks_vfs_file = -1
    let error = vfs.pointee.open(vfs.pointee.context, handle, name, mode, &file)
    precondition(error == 0)
    return file
  }

  func close(_ file: pks_vfs_file) { vfs.pointee.close(vfs.pointee.context, file) }
}

extension pks__scratch {
  var content: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: Int(length))) }

  mutating func append(_ bytes: [UInt8]) throws {
    try attempt { pks__scratch_append(&self, bytes, UInt64(bytes.count), $0) }
  }
}

extension pks__id {
  init(of bytes: UnsafeRawBufferPointer) {
    self.init()
    withUnsafeMutableBytes(of: &self) { digest in
      pkh_sha256(bytes.baseAddress, bytes.count, digest.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }
  }

  init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { pks__id(of: $0) } }

  var array: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}

/// Lower-case hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { byte in
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }.joined()
}
