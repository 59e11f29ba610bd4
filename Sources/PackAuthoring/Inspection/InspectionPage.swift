import PackStore

extension Inspection {
  /// Returns an HTML page with a map of all files by stored size, and tables. The page has no external resources and no scripts,
  /// fits narrow windows, and follows the system's dark mode. Names are escaped.
  ///
  /// - Parameter title: the title of the page, such as the name of the pack.
  public func html(title: String) -> String {
    let sections = [
      section("Where the bytes are", picture + legend),
      section("By kind of file", kindTable),
      section("Largest files", largestTable),
      duplicates.isEmpty ? "" : section("Duplicate files", duplicateTable),
      change.map { section("Changes since version \($0.from.number)", changeTable($0)) } ?? "",
    ]
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(pageText(title))</title>
      <style>
      \(Self.style)</style>
      </head>
      <body>
      <h1>\(pageText(title))</h1>
      <p class="facts">\(pageText(summary))</p>
      \(change.map { "<p class=\"facts\">since version \($0.from.number): \(pageText(cost(of: $0)))</p>" } ?? "")
      \(sections.filter { !$0.isEmpty }.joined(separator: "\n"))
      </body>
      </html>

      """
  }

  private var summary: String {
    "\(formatCount(usage.fileCount, "file")) of \(formatBytes(usage.byteCount)); \(formatBytes(usage.uniqueByteCount)) of them distinct, "
      + "stored in \(formatBytes(usage.storedByteCount))"
  }

  private func section(_ heading: String, _ body: String) -> String {
    "<section>\n<h2>\(pageText(heading))</h2>\n\(body)\n</section>"
  }

  // MARK: - The map

  private var picture: String {
    var drawing = TreemapDrawing()
    drawing.draw(root)
    return """
      <svg viewBox="0 0 \(TreemapDrawing.width) \(TreemapDrawing.height)" role="img" \
      aria-label="Files by the bytes that they take, folder by folder">
      \(drawing.marks)</svg>
      """
  }

  private var legend: String {
    let classes = CompressionClass.allCases.map { one in
      "<li><span class=\"key \(one.rawValue)\"></span>\(pageText(one.text))</li>"
    }
    return
      "<p class=\"facts\">Areas are bytes as they are stored. A chunk that files share counts for each of them.</p>\n"
      + "<ul class=\"legend\">\(classes.joined())</ul>"
  }

  // MARK: - Tables

  private var kindTable: String {
    let rows = kinds.prefix(40).map { kind in
      [
        kind.fileExtension.isEmpty ? "(none)" : "." + kind.fileExtension, formatCount(kind.fileCount),
        formatBytes(kind.byteCount), formatBytes(kind.storedByteCount), share(kind.storedByteCount, of: kind.byteCount),
      ]
    }
    return table(["kind", "files", "size", "stored", "of its size"], rows, left: kinds.count - rows.count)
  }

  private var largestTable: String {
    let files = largestFiles(50)
    let rows = files.map { path, file in
      [
        path, formatBytes(file.byteCount), formatBytes(file.storedByteCount),
        share(file.storedByteCount, of: file.byteCount),
      ]
    }
    return table(["file", "size", "stored", "of its size"], rows, left: root.fileCount - rows.count)
  }

  private var duplicateTable: String {
    let rows = duplicates.prefix(100).map { same in
      let shown = same.paths.prefix(4).joined(separator: "\n"), left = same.paths.count - 4
      return [
        shown + (left > 0 ? "\nand \(left) more" : ""), formatCount(same.paths.count), formatBytes(same.byteCount),
      ]
    }
    let text = "Stored once, and \(formatBytes(duplicateByteCount)) more in a folder of plain files."
    return "<p class=\"facts\">\(pageText(text))</p>\n"
      + table(["paths", "files", "each"], rows, left: duplicates.count - rows.count)
  }

  private func changeTable(_ change: Change) -> String {
    let totals = change.totals
    let counts = [
      (totals.addedCount, "added"), (totals.removedCount, "removed"), (totals.changedCount, "changed"),
      (totals.movedCount, "moved"), (totals.unchangedCount, "unchanged"),
    ].map { "\(formatCount($0)) \($1)" }.joined(separator: ", ")
    let rows = change.rows.map { row in
      [
        row.oldPath.map { "\($0) → \(row.path)" } ?? row.path, row.change.rawValue, formatBytes(row.oldByteCount),
        formatBytes(row.newByteCount), row.change == .removed ? "" : formatBytes(row.newChunkByteCount),
      ]
    }
    let all = totals.addedCount + totals.removedCount + totals.changedCount + totals.movedCount
    return "<p class=\"facts\">\(pageText(counts))</p>\n<p class=\"facts\">\(pageText(cost(of: change)))</p>\n"
      + table(["path", "change", "was", "is", "new"], rows, left: all - rows.count)
  }

  private func cost(of change: Change) -> String {
    let delta = change.deltaByteCount.map { "; by a delta \(formatBytes($0))" } ?? ""
    let new = formatBytes(change.totals.newByteCount)
    return "\(new) of new chunks; by ranges about \(formatBytes(change.rangeByteCount))\(delta)"
  }

  /// The first column is left-aligned, and may wrap.
  private func table(_ head: [String], _ rows: [[String]], left: Int) -> String {
    let header = head.map { "<th scope=\"col\">\(pageText($0))</th>" }.joined()
    let body = rows.map { row in
      let cells = row.enumerated().map { index, text in
        index == 0 ? "<th scope=\"row\">\(pageText(text))</th>" : "<td>\(pageText(text))</td>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
    let more = left > 0 ? "\n<p class=\"facts\">and \(formatCount(left)) more</p>" : ""
    return "<div class=\"scroll\"><table><thead><tr>\(header)</tr></thead>\n<tbody>\n"
      + body.joined(separator: "\n") + "\n</tbody></table></div>" + more
  }

  private func share(_ part: Int, of whole: Int) -> String {
    whole > 0 ? "\(Int((Double(part) / Double(whole) * 100).rounded())) %" : ""
  }
}

/// The compression ratio of a file, in classes.
enum CompressionClass: String, CaseIterable {
  case fifth = "r0"
  case half = "r1"
  case most = "r2"
  case nothing = "r3"

  init(_ item: Inspection.Item) {
    let ratio = Double(item.storedByteCount) / Double(max(item.byteCount, 1))
    self = ratio < 0.2 ? .fifth : ratio < 0.5 ? .half : ratio < 0.9 ? .most : .nothing
  }

  var text: String {
    switch self {
    case .fifth: "stored in less than 20 % of its size"
    case .half: "20 to 50 %"
    case .most: "50 to 90 %"
    case .nothing: "90 % and more: compressed already, or random"
    }
  }
}

// MARK: - Text

/// Escapes a text for HTML. Makes control characters, and characters that change the direction of text, visible. A line feed
/// becomes a line break.
package func pageText(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case "'": result += "&#39;"
    case "\n": result += "<br>"
    default:
      let isHidden = [.control, .format, .lineSeparator, .paragraphSeparator].contains(
        scalar.properties.generalCategory)
      if isHidden { result += "\\u{\(String(scalar.value, radix: 16))}" } else { result.unicodeScalars.append(scalar) }
    }
  }
  return result
}
