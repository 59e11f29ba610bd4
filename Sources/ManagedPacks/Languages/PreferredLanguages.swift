/// Returns the user's preferred languages from the environment: `LANGUAGE`, or the first variable that is set of `LC_ALL`,
/// `LC_MESSAGES` and `LANG`. Invalid languages are skipped.
package func preferredLanguages(_ environment: [String: String]) -> [LanguageTag] {
  let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
  // As in gettext: the locale C disables translations, regardless of LANGUAGE.
  guard languageTag(ofLocale: locale) != nil || locale.isEmpty else { return [] }
  let listed = (environment["LANGUAGE"] ?? "").split(separator: ":").prefix(64).compactMap { languageTag(ofLocale: $0) }
  return listed.isEmpty ? [languageTag(ofLocale: locale)].compactMap { $0 } : listed
}

/// Converts `sr_RS.UTF-8@latin` to `sr-Latn-RS`; returns `nil` for `C`, `POSIX` and invalid locales.
private func languageTag(ofLocale locale: some StringProtocol) -> LanguageTag? {
  let modifier = locale.split(separator: "@").dropFirst().first
  let name = locale.prefix { $0 != "." && $0 != "@" }
  guard name != "C", name != "POSIX" else { return nil }
  var parts = name.split(whereSeparator: { $0 == "_" || $0 == "-" }).map { String($0) }
  let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]
  if let script = modifier.flatMap({ scripts[String($0)] }), let first = parts.first {
    parts = [first, script] + parts.dropFirst()
  }
  return try? LanguageTag(parts.joined(separator: "-"))
}
