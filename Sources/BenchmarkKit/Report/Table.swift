/// A Markdown table: the first column is text, the others are figures.
struct Table {
  let head: [String]
  var rows: [[String]] = []

  init(_ head: [String]) { self.head = head }

  var markdown: String {
    let rule = ["---"] + [String](repeating: "---:", count: head.count - 1)
    return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}
