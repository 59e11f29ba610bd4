/// Text in which nothing is taken for markup.
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

/// An element around markup; well-formed as XML too. Values of attributes are escaped.
func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ content: String? = nil) -> String {
  let opening = name + attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
  return content.map { "<\(opening)>\($0)</\(name)>" } ?? "<\(opening)/>"
}

extension Table {
  /// The table as HTML. Figures are right-aligned, as in Markdown; `classes` are the classes of the rows.
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
