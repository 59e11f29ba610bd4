/// A text with the mark `§` before each place that a problem names, in the order of the text.
struct MarkedText {
  /// Without the marks.
  let text: String

  /// `line:column` of each mark.
  let places: [String]

  init(_ marked: String) {
    var text = String.UnicodeScalarView(), places: [String] = []
    var line = 1, column = 1
    var previous: Unicode.Scalar?
    for scalar in marked.unicodeScalars {
      guard scalar != "§" else {
        places.append("\(line):\(column)")
        continue
      }
      text.append(scalar)
      if scalar == "\n" || previous == "\r" && scalar != "\n" { (line, column) = (line + 1, 1) }
      if scalar != "\n", scalar != "\u{feff}" { column += 1 }
      previous = scalar
    }
    self.text = String(text)
    self.places = places
  }

  /// The descriptions of problems at the marks.
  func descriptions(_ problems: [String]) -> [String] {
    places.count == problems.count
      ? zip(places, problems).map { "\($0): \($1)" } : ["\(places.count) marks for \(problems.count) problems"]
  }
}
