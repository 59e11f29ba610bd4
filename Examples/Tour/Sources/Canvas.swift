import BackgroundAssets

/// A colour of the terminal.
struct Color: Hashable {
  var red: UInt8
  var green: UInt8
  var blue: UInt8

  static let black = Color(red: 0, green: 0, blue: 0)
  static let white = Color(red: 235, green: 230, blue: 220)
  static let gray = Color(red: 120, green: 120, blue: 125)
  static let gold = Color(red: 245, green: 190, blue: 70)
  static let green = Color(red: 110, green: 200, blue: 120)
  static let red = Color(red: 235, green: 90, blue: 80)

  /// From 0 (black) to 1.
  var brightness: Double { (0.3 * Double(red) + 0.59 * Double(green) + 0.11 * Double(blue)) / 255 }

  func dimmed(to light: Double) -> Color {
    func scaled(_ value: UInt8) -> UInt8 { UInt8(max(0, min(255, Double(value) * light))) }
    return Color(red: scaled(red), green: scaled(green), blue: scaled(blue))
  }
}

/// How many colours there are.
enum ColorDepth {
  case none
  case palette
  case full

  /// What the environment says of the terminal; see no-color.org.
  init(_ environment: [String: String]) {
    if environment["NO_COLOR"]?.isEmpty == false {
      self = .none
    } else {
      self = ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") ? .full : .palette
    }
  }

  /// The end of an escape sequence that sets a colour.
  func code(_ color: Color) -> String {
    switch self {
    case .none: ""
    case .full: "2;\(color.red);\(color.green);\(color.blue)"
    // A cube of six shades each.
    case .palette: "5;\(16 + 36 * shade(color.red) + 6 * shade(color.green) + shade(color.blue))"
    }
  }

  private func shade(_ value: UInt8) -> Int { Int(value) * 6 / 256 }
}

/// A square of pixels, two of which one character of a terminal shows.
struct Picture: Hashable {
  let side: Int
  var pixels: [Color]

  init(side: Int) {
    self.side = side
    pixels = Array(repeating: .black, count: side * side)
  }

  /// The color at a place; outside black.
  func color(_ x: Int, _ y: Int) -> Color {
    guard x >= 0, y >= 0, x < side, y < side else { return .black }
    return pixels[y * side + x]
  }
}

/// What a screen shows: a grid of characters. What does not fit is cut off.
struct Canvas {
  struct Cell: Hashable {
    var character: Character = " "
    var ink: Color?
    var paper: Color?
  }

  let columns: Int
  let rows: Int
  private var cells: [Cell]

  init(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    cells = Array(repeating: Cell(), count: self.columns * self.rows)
  }

  mutating func put(_ cell: Cell, row: Int, column: Int) {
    guard row >= 0, row < rows, column >= 0, column < columns else { return }
    cells[row * columns + column] = cell
  }

  mutating func put(_ text: String, row: Int, column: Int, ink: Color? = nil) {
    for (offset, character) in text.enumerated() {
      // Whatever a pack says, no escape sequence of it reaches the terminal.
      let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
      put(Cell(character: isControl ? "?" : character, ink: ink), row: row, column: column + offset)
    }
  }

  mutating func center(_ text: String, row: Int, ink: Color? = nil) {
    put(text, row: row, column: max((columns - text.count) / 2, 0), ink: ink)
  }

  /// A picture, two pixels in each character. Without colours, characters that are more or less dark.
  mutating func put(_ picture: Picture, row: Int, column: Int, _ depth: ColorDepth) {
    let shades = Array(" .:-=+*#%@")
    for y in stride(from: 0, to: picture.side, by: 2) {
      for x in 0..<picture.side {
        let upper = picture.color(x, y), lower = picture.color(x, y + 1)
        var cell = Cell(character: "▀", ink: upper, paper: lower)
        if case .none = depth {
          let light = min((upper.brightness + lower.brightness) / 2, 0.999)
          cell = Cell(character: shades[Int(light * Double(shades.count))])
        }
        put(cell, row: row + y / 2, column: column + x)
      }
    }
  }

  /// The rows as they are in a file.
  var plain: String {
    (0..<rows).map { row in
      let line = String(cells[row * columns..<(row + 1) * columns].map(\.character))
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  /// What makes a terminal that shows another canvas show this one.
  ///
  /// - Parameter previous: nil: the terminal shows anything.
  func escapes(since previous: Canvas?, _ depth: ColorDepth) -> String {
    let known = previous.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
    var text = known == nil ? "\u{1b}[0m\u{1b}[2J" : ""
    var style: Cell?
    for row in 0..<rows {
      var isThere = false
      for column in 0..<columns {
        let cell = cells[row * columns + column]
        guard known?.cells[row * columns + column] != cell else {
          isThere = false
          continue
        }
        if !isThere { text += "\u{1b}[\(row + 1);\(column + 1)H" }
        isThere = true
        if style.map({ $0.ink != cell.ink || $0.paper != cell.paper }) ?? true { text += Self.style(cell, depth) }
        style = cell
        text.append(cell.character)
      }
    }
    return text + "\u{1b}[0m"
  }

  private static func style(_ cell: Cell, _ depth: ColorDepth) -> String {
    var codes = ["0"]
    if case .none = depth { return "\u{1b}[0m" }
    if let ink = cell.ink { codes.append("38;" + depth.code(ink)) }
    if let paper = cell.paper { codes.append("48;" + depth.code(paper)) }
    return "\u{1b}[\(codes.joined(separator: ";"))m"
  }
}
