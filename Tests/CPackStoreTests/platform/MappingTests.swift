import CPackStore
import CPackStoreTesting
import Testing

#if os(Linux)
  extension Core {
    /// Mappings of the machine's own files, some of them on file systems without mappings.
    @Suite struct MappingTests {
      private let vfs = pks_vfs_posix()

      private func withFile<Result>(_ name: String, in folder: String, _ body: (pks_vfs_file) throws -> Result) throws
        -> Result
      {
        var root: pks_vfs_file = -1, file: pks_vfs_file = -1
        try #require(vfs.pointee.open_root(vfs.pointee.context, folder, false, &root) == 0)
        defer { vfs.pointee.close(vfs.pointee.context, root) }
        try #require(vfs.pointee.open(vfs.pointee.context, root, name, PKS_VFS_OPEN_READ, &file) == 0)
        defer { vfs.pointee.close(vfs.pointee.context, file) }
        return try body(file)
      }

      private func read(_ file: pks_vfs_file, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count), got = 0
        #expect(vfs.pointee.read_at(vfs.pointee.context, file, 0, &bytes, count, &got) == 0)
        return bytes
      }

      /// `/sys` has no mappings: the bytes are read instead, and bytes after the end of the file are zero.
      @Test func withoutMappingsFilesAreRead() throws {
        try withFile("online", in: "/sys/devices/system/cpu") { file in
          let count = 4096
          var address: UnsafeMutableRawPointer?
          try #require(vfs.pointee.map(vfs.pointee.context, file, count, false, &address) == 0)
          let mapped = Array(UnsafeRawBufferPointer(start: address, count: count))
          #expect(mapped == read(file, count) && mapped[0] != 0 && mapped.last == 0)
          vfs.pointee.unmap(vfs.pointee.context, try #require(address), count)
          #expect(vfs.pointee.map(vfs.pointee.context, file, count, true, &address) != 0, "a scratch file is not read")
          #expect(address == nil)
          #expect(vfs.pointee.map(vfs.pointee.context, file, 1 << 31, false, &address) != 0, "too large for memory")
        }
      }
    }
  }
#endif
