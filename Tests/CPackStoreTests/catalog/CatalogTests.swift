import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Catalog entries and roots: what is accepted, and what is not.
  @Suite struct CatalogTests {
    struct Entry: Equatable {
      var kind: UInt32, executable: Bool, size: UInt64, chunks: [UInt32]
      var target: [UInt8]
    }

    /// Decodes one entry by way of a tree that holds it.
    private static func read(_ value: [UInt8], path: String = "a/b", in box: PageBox = PageBox()) throws -> Entry {
      var tree = try box.writeMap([(Array(path.utf8), value)])
      var cursor = pks__tree_cursor(), entry = pks__catalog_entry(), more = false
      pks__tree_cursor_init(&cursor, box.source, PKS__TREE_MAP, 0, &tree)
      defer { pks__tree_cursor_free(&cursor) }
      try attempt { pks__tree_cursor_next(&cursor, &more, $0) }
      try attempt { pks__catalog_entry_read(&cursor, &entry, $0) }
      var chunks: [UInt32] = [], rows = pks__chunk_cursor(), row = pks__catalog_chunk()
      pks__chunk_cursor_init(&rows, box.source, &entry)
      defer { pks__chunk_cursor_free(&rows) }
      while true {
        try attempt { pks__chunk_cursor_next(&rows, &row, &more, $0) }
        guard more else { break }
        chunks.append(pks__get32(row.length))
      }
      let target = Array(UnsafeRawBufferPointer(start: entry.target, count: entry.target == nil ? 0 : Int(entry.size)))
      return Entry(
        kind: entry.kind.rawValue, executable: entry.executable, size: entry.size, chunks: chunks, target: target)
    }

    private static func refuses(_ value: [UInt8], path: String = "a/b") throws -> Bool {
      try status { _ = try read(value, path: path) } == PKS_CORRUPT
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: 10) { buffer, count in count = pks__put_varint(buffer.baseAddress, value) }
    }

    private static func row(_ length: UInt32) -> [UInt8] {
      [UInt8](repeating: 9, count: 32) + withUnsafeBytes(of: length.littleEndian) { Array($0) }
    }

    private static let file: UInt8 = 1, link: UInt8 = 2, folder: UInt8 = 3, executable: UInt8 = 4, listed: UInt8 = 8

    @Test func accepted() throws {
      #expect(try Self.read([Self.file, 0, 0]) == Entry(kind: 1, executable: false, size: 0, chunks: [], target: []))
      #expect(
        try Self.read([Self.file | Self.executable, 5, 1] + Self.row(5))
          == Entry(kind: 1, executable: true, size: 5, chunks: [5], target: []))
      #expect(try Self.read([Self.file, 9, 2] + Self.row(4) + Self.row(5)).chunks == [4, 5])
      #expect(
        try Self.read([Self.link] + Array("../x".utf8))
          == Entry(kind: 2, executable: false, size: 4, chunks: [], target: Array("../x".utf8)))
      #expect(try Self.read([Self.link] + [UInt8](repeating: 0xff, count: 4_095)).size == 4_095)
      #expect(try Self.read([Self.folder]) == Entry(kind: 3, executable: false, size: 0, chunks: [], target: []))
    }

    @Test func refused() throws {
      let one = Self.row(5)
      let values: [[UInt8]] = [
        [], [0], [0, 0, 0], [Self.file], [Self.file, 0], [Self.file, 0x80], [Self.file, 0x80, 0, 0],
        [Self.file, 0, 0x80, 0],
        [Self.file, 0, 0, 0], [Self.file, 5, 0], [Self.file, 0, 1] + one, [Self.file, 5, 1],
        [Self.file, 5, 1] + one.dropLast(),
        [Self.file, 5, 1] + one + [0], [Self.file, 5, 2] + one, [Self.file, 1, 2] + one + one,
        [Self.file, 5] + Self.varint(.max),
        [Self.file, 5, 64] + one, [Self.file | Self.listed, 5, 1] + one,
        [Self.file | Self.listed, 100, 64, 0] + [UInt8](repeating: 1, count: 32),
        [Self.file, 100, 65, 0] + [UInt8](repeating: 1, count: 32),
        [Self.file | Self.listed, 100, 65, 0] + [UInt8](repeating: 1, count: 31),
        [Self.file | Self.listed, 100, 65, 0] + [UInt8](repeating: 1, count: 33), [Self.file | 16, 0, 0],
        [Self.file | 128, 0, 0],
        [Self.link], [Self.link | Self.executable, 0x61], [Self.link | Self.listed, 0x61], [Self.link | 16, 0x61],
        [Self.link] + [UInt8](repeating: 0x61, count: 4_096), [Self.folder, 0], [Self.folder | Self.executable],
        [Self.folder | Self.listed], [Self.folder | 64],
      ]
      for value in values { #expect(try Self.refuses(value), "\(value.prefix(12))") }
    }

    @Test func refusedPaths() throws {
      for path in ["..", "/a", "a//b", "a/", "a\u{0}b", "a/../b"] {
        #expect(try Self.refuses([Self.folder], path: path), "\(path.debugDescription)")
      }
    }

    /// Rows inline while few, a list when many; what was collected comes back.
    @Test(arguments: [0, 1, 64, 65, 5_000]) func rows(count: Int) throws {
      let box = PageBox()
      var rows = pks__rows(), value = pks__scratch(), flags = Self.file
      pks__rows_init(&rows, box.sink, 36)
      defer {
        pks__rows_free(&rows)
        pks__scratch_free(&value)
      }
      for _ in 0..<2 {  // a collection is used from entry to entry
        flags = Self.file
        value.length = 0
        for number in 0..<count { try attempt { pks__rows_append(&rows, Self.row(UInt32(number + 1)), $0) } }
        try attempt { pks__rows_finish(&rows, &value, &flags, $0) }
        #expect((flags & Self.listed != 0) == (count > 64))
        let size = UInt64(count * (count + 1) / 2)
        let entry = try Self.read([flags] + Self.varint(size) + value.content, in: box)
        #expect(entry.chunks == (0..<count).map { UInt32($0 + 1) } && entry.size == size)
      }
    }

    /// A list that is shorter than its entry says.
    @Test func shortList() throws {
      let box = PageBox()
      let tree = try box.writeList((0..<70).map { Self.row($0 + 1) }, rowSize: 36)
      let value =
        [Self.file | Self.listed] + Self.varint(10_000) + Self.varint(71) + [UInt8(tree.height)] + tree.root.array
      #expect(try status { _ = try Self.read(value, in: box) } == PKS_CORRUPT)
    }

    @Test func roots() throws {
      let box = PageBox()
      var info = pks__catalog_info(
        chunk_average: 16_384, file_count: 1, link_count: 2, folder_count: 3, logical_bytes: 4)
      var tree = try box.writeMap([([0x61], [Self.folder])]), id = pks__id()
      try attempt { pks__catalog_put_root(box.sink, &info, &tree, &id, $0) }
      var readInfo = pks__catalog_info(), readTree = pks__tree()
      try attempt { pks__catalog_read_root(box.source, &id, &readInfo, &readTree, $0) }
      #expect(readInfo.chunk_average == 16_384 && readInfo.file_count == 1 && readInfo.link_count == 2)
      #expect(readInfo.folder_count == 3 && readInfo.logical_bytes == 4)
      #expect(readTree.root.array == tree.root.array && readTree.height == tree.height)

      var segments = [pks__segment_id(), pks__segment_id()], layout = pks__id(), found = pks__scratch()
      var root = pks__layout_root(), readRoot = pks__layout_root()
      withUnsafeMutableBytes(of: &segments[1]) { $0[0] = 7 }
      root.catalog = id
      root.map = tree
      root.number = 9
      withUnsafeMutableBytes(of: &root.pack) { $0.copyBytes(from: "Tutorial".utf8) }
      try attempt { pks__layout_put_root(box.sink, &root, &segments, 2, &layout, $0) }
      try attempt { pks__layout_read_root(box.source, &layout, &readRoot, &found, $0) }
      defer { pks__scratch_free(&found) }
      #expect(readRoot.catalog.array == id.array && readRoot.map.root.array == tree.root.array)
      #expect(readRoot.number == 9 && withUnsafeBytes(of: readRoot.pack) { $0.starts(with: "Tutorial\0".utf8) })
      #expect(found.length == 32 && found.content[16] == 7)

      // Each is refused for the other, cut, and continued.
      #expect(
        try status { try attempt { pks__catalog_read_root(box.source, &layout, &readInfo, &readTree, $0) } }
          == PKS_CORRUPT)
      #expect(
        try status { try attempt { pks__layout_read_root(box.source, &id, &readRoot, &found, $0) } }
          == PKS_CORRUPT)
      for (root, isCatalog) in [(id, true), (layout, false)] {
        let page = box.pages[root.array]!
        func reading(_ bytes: [UInt8]) throws -> pks_status {
          box.pages[root.array] = bytes
          var root = root
          return try status {
            if isCatalog {
              try attempt { pks__catalog_read_root(box.source, &root, &readInfo, &readTree, $0) }
            } else {
              try attempt { pks__layout_read_root(box.source, &root, &readRoot, &found, $0) }
            }
          }
        }
        for bad in (0..<page.count).map({ Array(page.prefix($0)) }) + [page + [0], page + page] {
          #expect(try reading(bad) == PKS_CORRUPT, "length \(bad.count) of \(page.count)")
        }
        for (format, expected) in otherFormats {
          let other = page[..<4] + format + page[8...]
          #expect(try reading(Array(other)) == expected && !pks__layout_is_root(Array(other), page.count), "\(format)")
        }
        #expect(try reading(page) == PKS_OK && pks__layout_is_root(page, page.count) == !isCatalog)
      }
    }
  }
}
