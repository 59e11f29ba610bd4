import PackStore

/// Key files that editors, shells and secret stores changed, and the faults of refused key files.
extension SiteKey {
  /// Returns the text as a key file has it: without a byte order mark, line ends of Windows, and white space at the ends of lines, and
  /// with a final line feed.
  package static func normalizedFileText(_ text: String) -> String {
    let mark: Unicode.Scalar = "\u{feff}"
    let scalars = text.unicodeScalars.drop { $0 == mark }
    var lines = Substring(scalars).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
      line.reversed().drop { $0 == " " || $0 == "\t" }.reversed().map(String.init).joined()
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The fault of a normalized text that is not a key file. It never contains a part of the text.
  package static func fault(inFileText text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard let first = lines.first else { return "it is empty" }
    guard [firstLine, publicFirstLine].contains(String(first)) else {
      guard lines.count > 1 || SitePublicKey(String(first)) == nil else { return "it is a public key" }
      return "its first line is not '\(firstLine)'"
    }
    guard lines.count > 1 else { return "its second line is missing" }
    let secret = lines.prefix(2).map { $0 + "\n" }.joined()
    guard Self(fileText: secret) != nil else { return "its second line is not base64 of 32 bytes" }
    guard previousRelease(fileText: text) == nil else {
      return
        "its delegation is of an earlier draft of the format; run 'packstore delegate' with the root key and this file"
    }
    guard previousRoot(fileText: text) == nil else {
      return
        "its rotations are of an earlier draft of the format; run 'packstore rotate' with the root key before it and this file"
    }
    let words = ["rotation ", "sets ", "delegation ", "serial ", "revoked ", HolderNote.word]
    for (index, line) in lines.enumerated().dropFirst(2) where !words.contains(where: line.hasPrefix) {
      return "its line \(index + 1) is neither a rotation, a delegation nor a serial"
    }
    return "its lines after the second are damaged, or are of another key"
  }
}
