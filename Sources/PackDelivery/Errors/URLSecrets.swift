/// A URL as it may be shown and logged: without a user's name and password, and without the query, where tokens and signatures
/// are. A fragment, which no server receives, stays; so do other texts, such as paths.
package func withoutSecrets(_ url: String) -> String {
  if let mark = url.firstRange(of: "://") { return url[..<mark.upperBound] + shown(url[mark.upperBound...]) }
  // Perhaps a URL whose scheme was left out, or mistyped.
  let scheme = url.prefixMatch(of: /[Hh][Tt][Tt][Pp][Ss]?:\/?/)?.output ?? ""
  let rest = url[scheme.endIndex...]
  let host = /(?:[^\/?#@\s]*@)?[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+(?::[0-9]+)?(?:[\/?#]|$)/
  return rest.prefixMatch(of: host) == nil ? url : scheme + shown(rest)
}

private func shown(_ rest: Substring) -> String {
  let rest = withoutUser(rest), end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
  return end < rest.endIndex && rest[end] == "?" ? "\(rest[..<end])?..." : String(rest)
}

/// The part of a URL after `://`, with `...` in place of a user's name and password.
private func withoutUser(_ rest: Substring) -> Substring {
  let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
  if let end = authority.lastIndex(of: "@") { return "..." + rest[end...] }
  // A password may contain characters that end the host of a valid URL; a port has digits alone.
  guard let colon = authority.lastIndex(of: ":"), !authority.contains("["),
    !authority[authority.index(after: colon)...].allSatisfy(\.isNumber), let end = rest.lastIndex(of: "@")
  else { return rest }
  return "..." + rest[end...]
}

/// Returns a text in which each URL is as ``withoutSecrets(_:)`` shows it. A URL ends at a blank or a quotation mark. A URL that was
/// taken for a path has one slash after its scheme.
package func hidingSecrets(in text: String) -> String {
  guard text.contains(":/") else { return text }
  return text.replacing(/(?:[A-Za-z][A-Za-z0-9+.\-]*:\/|(?:[Hh][Tt][Tt][Pp][Ss]?|[Ss]3):)\/[^\s'"]+/) { match in
    // Punctuation after the URL belongs to the sentence.
    let url = match.output, end = url.lastIndex { !",;:.)".contains($0) } ?? url.startIndex
    let shown = withoutSecretsAsPath(url[...end]), rest = url[url.index(after: end)...]
    return shown.hasSuffix("...") ? shown + rest.drop { $0 == "." } : shown + rest
  }
}

/// As ``withoutSecrets(_:)``, also if one slash of `://` was lost.
private func withoutSecretsAsPath(_ url: Substring) -> String {
  guard !url.contains("://"), let mark = url.firstRange(of: ":/") else { return withoutSecrets(String(url)) }
  return url[..<mark.upperBound] + shown(url[mark.upperBound...])
}
