import CPackStore
import CPackStoreTesting

/// A site made by hand, whose parts may contradict each other: everything is authentic, and nothing need make sense.
struct SiteBuilder {
  struct Chunk { var id: pks__id, length: UInt32 }
  struct Extent { var segment: [UInt8], frame: UInt32, skip: UInt32, length: UInt64 }
  struct File {
    var path: String
    var size: UInt64
    var chunks: [Chunk]
    var extents: [Extent]
    var isMapped = false
  }

  /// Frames of the data segment: raw bytes, with what is said of their chunks.
  var frames: [[UInt8]]
  var files: [File]
  /// Bytes of entries that are no files, by path.
  var entries: [String: [UInt8]] = [:]
  /// Bytes of entries of the layout whose files are in ``entries``, by path, and how many files these are.
  var layoutEntries: [String: [UInt8]] = [:]
  private var otherFiles: (count: UInt64, bytes: UInt64) = (0, 0)
  var average: UInt32 = 1024
  let box = PageBox()
  private(set) var dataID: [UInt8]
  private let dataFile: [UInt8], dataTable: [UInt8]

  /// Files of one chunk each, every one in a frame of its own.
  init(_ contents: [String: [UInt8]]) throws {
    let sorted = contents.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    frames = sorted.map(\.value)
    (dataID, dataFile, dataTable) = try Self.segment(frames, PKS__SEGMENT_DATA)
    files = []
    for (index, item) in sorted.enumerated() {
      let chunk = Chunk(id: pks__id(of: item.value), length: UInt32(item.value.count))
      let extent = Extent(segment: dataID, frame: UInt32(index), skip: 0, length: UInt64(item.value.count))
      files.append(File(path: item.key, size: UInt64(item.value.count), chunks: [chunk], extents: [extent]))
    }
  }

  /// A segment of raw frames of one chunk each, and its table.
  static func segment(_ frames: [[UInt8]], _ kind: pks__segment_kind) throws -> ([UInt8], [UInt8], [UInt8]) {
    let home = ScratchHome()
    var writer = pks__segment_writer(), row = pks__frame_row(), id = pks__segment_id(), length: UInt64 = 0
    var file: pks_vfs_file = -1
    try attempt { pks__segment_writer_open(&writer, home.folder, "segment", kind, $0) }
    for frame in frames {
      let end = UInt32(frame.count)
      try attempt {
        pks__segment_writer_append(
          &writer, frame, end, PKS__CODEC_RAW.rawValue, 1, [pks__id(of: frame)], [end], 1, &row, $0)
      }
    }
    try attempt { pks__segment_writer_seal(&writer, sha256, &id, &length, &file, $0) }
    home.close(file)
    var segment: UnsafeMutablePointer<pks__segment>?
    try attempt { pks__segment_open(&segment, home.vfs, home.handle, "segment", &id, $0) }
    defer { pks__segment_close(segment) }
    final class Sink { var bytes: [UInt8] = [] }
    let sink = Sink()
    try attempt {
      pks__frame_table_write(
        segment, sha256, sha256Many,
        { context, bytes, count in
          Unmanaged<Sink>.fromOpaque(context!).takeUnretainedValue().bytes += UnsafeRawBufferPointer(
            start: bytes, count: count)
          return true
        }, Unmanaged.passUnretained(sink).toOpaque(), $0)
    }
    return (withUnsafeBytes(of: id) { Array($0) }, home.read("segment"), sink.bytes)
  }

  static func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
  }
  static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  /// Adds a file of the first file's chunk again and again: 64 rows in a leaf, and above it `levels` pages that name the page below
  /// `children` times. The layout has no entry for it.
  mutating func addRepeated(_ path: String, levels: Int, children: Int) {
    func page(_ level: Int, _ items: [[UInt8]]) -> pks__id {
      let page = [2, UInt8(level), 36, 0] + Self.number(UInt64(items.count), 4) + items.joined()
      let id = pks__id(of: page)
      box.pages[id.array] = page
      return id
    }
    var id = page(0, Array(repeating: row(of: files[0].chunks[0]), count: 64)), below: UInt64 = 64
    for level in 0..<levels {
      id = page(level + 1, Array(repeating: id.array + Self.number(below, 8), count: children))
      below *= UInt64(children)
    }
    entries[path] = entry(of: below, UInt8(levels), id)
  }

  /// Adds a file of the first file's chunk, `count` times, in canonical form. Of its extents the layout has the first one, which is
  /// not looked at, for the chunk belongs to the first file.
  mutating func addRun(_ path: String, count: UInt64) throws {
    var writer = pks__tree_writer(), list = pks__tree()
    pks__tree_writer_init(&writer, box.sink, PKS__TREE_LIST, 36)
    defer { pks__tree_writer_free(&writer) }
    let row = row(of: files[0].chunks[0])
    for _ in 0..<count { try attempt { pks__tree_writer_append(&writer, row, $0) } }
    try attempt { pks__tree_writer_finish(&writer, &list, $0) }
    entries[path] = entry(of: count, UInt8(list.height), list.root)
    layoutEntries[path] = [0, 1] + self.row(of: files[0].extents[0])
    otherFiles.count += 1
    otherFiles.bytes += count * UInt64(files[0].chunks[0].length)
  }

  private func row(of chunk: Chunk) -> [UInt8] { chunk.id.array + Self.number(UInt64(chunk.length), 4) }

  private func row(of extent: Extent) -> [UInt8] {
    extent.segment + Self.number(UInt64(extent.frame), 4) + Self.number(UInt64(extent.skip), 4)
      + Self.number(extent.length, 8)
  }

  /// The entry of a file of the first file's chunk.
  private func entry(of count: UInt64, _ height: UInt8, _ list: pks__id) -> [UInt8] {
    [1 | 8] + Self.varint(count * UInt64(files[0].chunks[0].length)) + Self.varint(count) + [height] + list.array
  }

  private func catalogEntry(_ file: File) throws -> [UInt8] {
    let rows = file.chunks.map(row)
    let head = Self.varint(file.size) + Self.varint(UInt64(rows.count))
    if rows.count <= 64 { return [1] + head + rows.joined() }
    let list = try box.writeList(rows, rowSize: 36)
    return [1 | 8] + head + [UInt8(list.height)] + list.root.array
  }

  private func layoutEntry(_ file: File) throws -> [UInt8] {
    let rows = file.extents.map(row)
    let flags: UInt8 = file.isMapped ? 16 : 0, head = Self.varint(UInt64(rows.count))
    if rows.count <= 64 { return [flags] + head + rows.joined() }
    let list = try box.writeList(rows, rowSize: 32)
    return [flags | 8] + head + [UInt8(list.height)] + list.root.array
  }

  private func map(_ items: [String: [UInt8]]) throws -> pks__tree {
    let sorted = items.map { (key: Array($0.key.utf8), value: $0.value) }.sorted {
      $0.key.lexicographicallyPrecedes($1.key)
    }
    return try box.writeMap(sorted)
  }

  /// The site. `adjust` may say other things in the roots.
  func build(_ adjust: (inout pks__catalog_info, inout pks__tree, inout pks__layout_root) -> Void = { _, _, _ in })
    throws -> Site
  {
    var catalogItems = entries
    for file in files { catalogItems[file.path] = try catalogEntry(file) }
    var layoutItems = layoutEntries
    for file in files { layoutItems[file.path] = try layoutEntry(file) }
    var info = pks__catalog_info(), map = try map(catalogItems), root = pks__layout_root()
    var catalog = pks__id(), layout = pks__id()
    info.chunk_average = average
    info.file_count = UInt64(files.count) + otherFiles.count
    info.logical_bytes = files.reduce(otherFiles.bytes) { $0 &+ $1.size }
    root.map = try self.map(layoutItems)
    root.number = 1
    withUnsafeMutableBytes(of: &root.pack) { $0[0] = UInt8(ascii: "p") }
    adjust(&info, &map, &root)
    try attempt { pks__catalog_put_root(box.sink, &info, &map, &catalog, $0) }
    if root.catalog.array == pks__id().array { root.catalog = catalog }
    try attempt { pks__layout_put_root(box.sink, &root, nil, 0, &layout, $0) }
    let pages = box.pages.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    let (id, file, table) = try Self.segment(pages, PKS__SEGMENT_METADATA)
    var version = pks_pack_version()
    version.number = 1
    withUnsafeMutableBytes(of: &version.catalog) { $0.copyBytes(from: catalog.array) }
    withUnsafeMutableBytes(of: &version.layout) { $0.copyBytes(from: layout.array) }
    return Site(
      pack: "p", version: version,
      segments: [
        PublishedSegment(id: dataID, isMetadata: false, length: UInt64(dataFile.count)),
        PublishedSegment(id: id, isMetadata: true, length: UInt64(file.count)),
      ], tables: [dataTable, table], files: [dataFile, file])
  }
}
