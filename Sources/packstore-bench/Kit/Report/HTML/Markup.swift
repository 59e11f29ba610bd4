/// Escapes a text for markup.
func escaped(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    default: result.append(character)
    }
  }
  return result
}

/// Returns an element around markup, which is also well-formed XML. Escapes the values of attributes.
func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ content: String? = nil) -> String {
  let opening = name + attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
  return content.map { "<\(opening)>\($0)</\(name)>" } ?? "<\(opening)/>"
}

extension Table {
  /// Returns the table as HTML, with right-aligned figures as in Markdown.
  ///
  /// - Parameter classes: the CSS classes of the rows; an empty string for no class.
  func html(classes: [String] = []) -> String {
    let header = element("thead", [:], element("tr", [:], head.map { element("th", [:], escaped($0)) }.joined()))
    let body = rows.enumerated().map { index, row in
      let cells = row.enumerated().map { element($0.offset == 0 ? "th" : "td", [:], escaped($0.element)) }.joined()
      let rowClass = index < classes.count ? classes[index] : ""
      return rowClass.isEmpty ? element("tr", [:], cells) : element("tr", ["class": rowClass], cells)
    }
    return element("div", ["class": "scroll"], element("table", [:], header + element("tbody", [:], body.joined())))
  }
}
