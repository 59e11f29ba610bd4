/// A table. The first column is text, the other columns are figures.
struct Table {
  let head: [String]
  var rows: [[String]] = []

  init(_ head: [String]) { self.head = head }

  /// Returns the table without some columns.
  func without(columns: ClosedRange<Int>) -> Table {
    func rest(_ row: [String]) -> [String] { row.enumerated().filter { !columns.contains($0.offset) }.map(\.element) }
    var table = Table(rest(head))
    table.rows = rows.map(rest)
    return table
  }

  var markdown: String {
    let rule = ["---"] + [String](repeating: "---:", count: head.count - 1)
    return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}
