/// A URL as it may be shown and logged: without a user's name and password, and without the query, where tokens and signatures
/// are. A fragment, which no server receives, stays; so do other texts, such as paths.
package func withoutSecrets(_ url: String) -> String {
  guard let mark = url.firstRange(of: "://") else { return isLikeURL(url) ? shown(url[...]) : url }
  return url[..<mark.upperBound] + shown(url[mark.upperBound...])
}

/// Whether a text is perhaps a URL whose scheme was left out.
private func isLikeURL(_ text: String) -> Bool {
  text.prefixMatch(of: /(?:[^\/?#@\s]*@)?[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+(?::[0-9]+)?(?:[\/?#]|$)/) != nil
}

private func shown(_ rest: Substring) -> String {
  let rest = withoutUser(rest), end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
  return end < rest.endIndex && rest[end] == "?" ? "\(rest[..<end])?..." : String(rest)
}

/// What follows `://`, with `...` in place of a user's name and password.
private func withoutUser(_ rest: Substring) -> Substring {
  let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
  if let end = authority.lastIndex(of: "@") { return "..." + rest[end...] }
  // A password may contain what ends the host in a proper URL; a port has digits alone.
  guard let colon = authority.lastIndex(of: ":"), !authority.contains("["),
    !authority[authority.index(after: colon)...].allSatisfy(\.isNumber), let end = rest.lastIndex(of: "@")
  else { return rest }
  return "..." + rest[end...]
}

/// A text in which each URL is as ``withoutSecrets(_:)`` shows it. A URL ends at a blank or a quotation mark.
package func hidingSecrets(in text: String) -> String {
  guard text.contains("://") else { return text }
  return text.replacing(/[A-Za-z][A-Za-z0-9+.\-]*:\/\/[^\s'"]+/) { match in
    // Punctuation after the URL belongs to the sentence.
    let url = match.output, end = url.lastIndex { !",;:.)".contains($0) } ?? url.startIndex
    return withoutSecrets(String(url[...end])) + url[url.index(after: end)...]
  }
}
