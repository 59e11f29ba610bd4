import CPackStore
import CPackStoreTesting

/// Pages in memory, by identity: a sink and a source for trees.
final class PageBox {
  var pages: [[UInt8]: [UInt8]] = [:]

  var sink: pks__page_sink {
    pks__page_sink(context: Unmanaged.passUnretained(self).toOpaque()) { context, page, length, id, _ in
      let bytes = Array(UnsafeRawBufferPointer(start: page, count: length))
      id!.pointee = pks__id(of: bytes)
      Unmanaged<PageBox>.fromOpaque(context!).takeUnretainedValue().pages[id!.pointee.array] = bytes
      return PKS_OK
    }
  }

  var source: pks__page_source {
    pks__page_source(context: Unmanaged.passUnretained(self).toOpaque()) { context, id, out, error in
      out!.pointee.length = 0
      guard let page = Unmanaged<PageBox>.fromOpaque(context!).takeUnretainedValue().pages[id!.pointee.array] else {
        return pks__fail(error, PKS_CORRUPT, nil, nil, 0)
      }
      return pks__scratch_append(out, page, UInt64(page.count), error)
    }
  }

  // MARK: Trees

  /// Ids of the pages right below the root of a map, in order.
  func children(of tree: pks__tree) throws -> [[UInt8]] {
    final class Seen { var ids: [[UInt8]] = [] }
    let seen = Seen(), bytes = pages[tree.root.array]!
    var page = pks__scratch(), root = tree.root
    defer { pks__scratch_free(&page) }
    try attempt { pks__scratch_append(&page, bytes, UInt64(bytes.count), $0) }
    try attempt {
      pks__tree_visit_items(
        &page, &root, PKS__TREE_MAP, 0, tree.height,
        { context, item, _ in
          Unmanaged<Seen>.fromOpaque(context!).takeUnretainedValue().ids.append(pks__tree_child(item).array)
          return PKS_OK
        }, Unmanaged.passUnretained(seen).toOpaque(), $0)
    }
    return seen.ids
  }

  func writeMap(_ items: [(key: [UInt8], value: [UInt8])]) throws -> pks__tree {
    var writer = pks__tree_writer(), tree = pks__tree()
    pks__tree_writer_init(&writer, sink, PKS__TREE_MAP, 0)
    defer { pks__tree_writer_free(&writer) }
    for (key, value) in items { try attempt { pks__tree_writer_put(&writer, key, key.count, value, value.count, $0) } }
    try attempt { pks__tree_writer_finish(&writer, &tree, $0) }
    return tree
  }

  func writeList(_ rows: [[UInt8]], rowSize: Int) throws -> pks__tree {
    var writer = pks__tree_writer(), tree = pks__tree()
    pks__tree_writer_init(&writer, sink, PKS__TREE_LIST, UInt16(rowSize))
    defer { pks__tree_writer_free(&writer) }
    for row in rows { try attempt { pks__tree_writer_append(&writer, row, $0) } }
    try attempt { pks__tree_writer_finish(&writer, &tree, $0) }
    return tree
  }

  func read(_ tree: pks__tree, _ kind: pks__tree_kind, rowSize: Int = 0) throws -> [(key: [UInt8], value: [UInt8])] {
    var cursor = pks__tree_cursor(), tree = tree, items: [(key: [UInt8], value: [UInt8])] = []
    pks__tree_cursor_init(&cursor, source, kind, UInt16(rowSize), &tree)
    defer { pks__tree_cursor_free(&cursor) }
    var more = true
    while true {
      try attempt { pks__tree_cursor_next(&cursor, &more, $0) }
      guard more else { return items }
      var length = 0
      let key = kind == PKS__TREE_MAP ? pks__tree_cursor_key(&cursor, &length) : nil
      items.append(
        (
          Array(UnsafeRawBufferPointer(start: key, count: length)),
          Array(UnsafeRawBufferPointer(start: cursor.value, count: cursor.value_length))
        ))
    }
  }
}
