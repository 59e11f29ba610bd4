/// The colour of each participant, the same in all charts of a page. The style sheet defines the colours for light and dark mode.
struct Palette {
  private let indexes: [String: Int]

  /// - Parameter names: the participants, in the order of the tables.
  init(_ names: [String]) {
    indexes = Dictionary(names.enumerated().map { ($0.element, $0.offset % Self.colourCount) }) { first, _ in first }
  }

  static let colourCount = 10

  /// Returns the CSS class with the colour of a participant's marks. Limits are grey.
  func style(of entry: Comparison.Entry) -> String {
    entry.isLimit ? "limit" : "c\(indexes[entry.name] ?? Self.colourCount - 1)"
  }
}
