import BackgroundAssets

/// How a cave looks by the light of a torch.
struct CaveView {
  let depth: ColorDepth
  /// What rock is made of.
  let stone: Picture?

  /// The way out is always in the middle of what fits, the player in sight.
  func draw(_ cave: Cave, on canvas: inout Canvas, rows: Range<Int>) {
    let width = min(canvas.columns, cave.columns), height = min(rows.count, cave.rows)
    let left = clamp(cave.player.x - width / 2, 0, cave.columns - width)
    let top = clamp(cave.player.y - height / 2, 0, cave.rows - height)
    let column = (canvas.columns - width) / 2, row = rows.lowerBound + (rows.count - height) / 2
    for y in 0..<height {
      for x in 0..<width {
        let place = Cave.Place(x: left + x, y: top + y)
        canvas.put(cell(cave, place), row: row + y, column: column + x)
      }
    }
  }

  private func clamp(_ value: Int, _ least: Int, _ most: Int) -> Int { max(least, min(value, max(most, least))) }

  private func cell(_ cave: Cave, _ place: Cave.Place) -> Canvas.Cell {
    guard cave.seen.contains(place) else { return Canvas.Cell() }
    let dx = Double(place.x - cave.player.x), dy = Double(place.y - cave.player.y)
    // What was seen before stays in mind, darker.
    let light = max(0.22, 1.15 - (dx * dx + dy * dy).squareRoot() / Double(Cave.torch + 1))
    let ground = Color(red: 58, green: 48, blue: 40).dimmed(to: light)
    if place == cave.player { return Canvas.Cell(character: "@", ink: .gold, paper: ground) }
    if cave.isRock(place) {
      let color = stone?.color(place.x % (stone?.side ?? 1), place.y % (stone?.side ?? 1)) ?? .gray
      return Canvas.Cell(character: "#", ink: color.dimmed(to: light * 0.8), paper: color.dimmed(to: light))
    }
    if cave.crystals.contains(place) {
      return Canvas.Cell(character: "*", ink: Color(red: 120, green: 210, blue: 255), paper: ground)
    }
    if place == cave.exit { return Canvas.Cell(character: ">", ink: cave.isOpen ? .green : .red, paper: ground) }
    return Canvas.Cell(character: "·", ink: ground.dimmed(to: 1.8), paper: ground)
  }
}

extension Picture {
  /// A picture of a pack: 64 rows of 64 pixels of three bytes. Nil for anything else.
  init?(stone data: Data) {
    guard data.count == 64 * 64 * 3 else { return nil }
    self.init(side: 64)
    let bytes = [UInt8](data)
    pixels = (0..<64 * 64).map { Color(red: bytes[3 * $0], green: bytes[3 * $0 + 1], blue: bytes[3 * $0 + 2]) }
  }
}
