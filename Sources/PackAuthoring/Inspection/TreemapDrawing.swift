import PackStore

/// Draws nested folders as an SVG picture. Items too small to see are combined.
struct TreemapDrawing {
  static let width = 1_200
  static let height = 720

  /// Items with a smaller area are combined, so that a picture has at most a few thousand marks.
  private static let leastArea = 150.0
  private static let deepest = 8
  private static let titleHeight = 16.0

  private(set) var marks = ""

  mutating func draw(_ root: Inspection.Item) {
    let whole = Treemap.Rectangle(x: 0, y: 0, width: Double(Self.width), height: Double(Self.height))
    drawItems(of: root, in: whole, path: "", depth: 0)
  }

  private mutating func drawItems(of folder: Inspection.Item, in room: Treemap.Rectangle, path: String, depth: Int) {
    let items = gathered(folder, in: room)
    let places = Treemap.layOut(items.map { Double($0.storedByteCount) }, in: room)
    for (item, place) in zip(items, places) where place.area > 0 {
      draw(item, in: place, path: path.isEmpty ? item.name : "\(path)/\(item.name)", depth: depth)
    }
  }

  /// Returns the items of a folder, with the smallest combined into one.
  private func gathered(_ folder: Inspection.Item, in room: Treemap.Rectangle) -> [Inspection.Item] {
    let scale = room.area / Double(max(folder.storedByteCount, 1))
    let shown = folder.items.prefix { Double($0.storedByteCount) * scale >= Self.leastArea }
    let rest = folder.items.dropFirst(shown.count)
    guard rest.count > 1 else { return folder.items }
    var gathered = Inspection.Item(name: "\(formatCount(rest.count)) more", isFolder: false)
    gathered.fileCount = rest.map(\.fileCount).clampedSum()
    gathered.byteCount = rest.map(\.byteCount).clampedSum()
    gathered.storedByteCount = rest.map(\.storedByteCount).clampedSum()
    return (shown + [gathered]).sorted { $0.storedByteCount > $1.storedByteCount }
  }

  private mutating func draw(_ item: Inspection.Item, in place: Treemap.Rectangle, path: String, depth: Int) {
    let isOpen = item.isFolder && place.width >= 40 && place.height >= 34 && depth < Self.deepest
    let style = isOpen ? "folder" : CompressionClass(item).rawValue
    let counts = item.fileCount == 1 ? "" : "\(formatCount(item.fileCount)) files, "
    let title = "\(path): \(counts)\(formatBytes(item.byteCount)), stored in \(formatBytes(item.storedByteCount))"
    marks += """
      <g><title>\(pageText(title))</title>\
      <rect class="\(style)" x="\(number(place.x))" y="\(number(place.y))" width="\(number(place.width))" \
      height="\(number(place.height))"/>\(label(item, in: place))</g>

      """
    guard isOpen else { return }
    drawItems(of: item, in: place.inset(2, top: Self.titleHeight), path: path, depth: depth + 1)
  }

  /// Returns the name, shortened to the available width.
  private func label(_ item: Inspection.Item, in place: Treemap.Rectangle) -> String {
    let room = Int((place.width - 8) / 6.4)
    guard room >= 4, place.height >= Self.titleHeight else { return "" }
    let name = item.name.count <= room ? item.name : "\(item.name.prefix(room - 1))…"
    return "<text x=\"\(number(place.x + 4))\" y=\"\(number(place.y + 12))\">\(pageText(name))</text>"
  }

  /// Formats a coordinate with one decimal, which is finer than any screen.
  private func number(_ value: Double) -> String {
    let tenths = Int((max(value, 0) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
