/// Selects the language of packs that suits the user best, by the rules of CLDR.
///
/// Only language, script and region are compared, with missing parts filled in by likely subtags: `en` is `en-Latn-US`. If a
/// language is not available, its parents in CLDR's tree follow (`en-AU`, `en-001`, `en`; `es-MX`, `es-419`, `es`), then any region
/// of the same language and script. Another script is another language: a reader of `zh-Hant` does not receive `zh-Hans`.
package struct LanguageMatcher: Sendable {
  /// In the order in which equal matches are tried: shorter tags first.
  private let available: [(tag: LanguageTag, key: Key)]
  private let primary: LanguageTag?

  /// The compared parts of a tag, with likely subtags filled in.
  package struct Key: Hashable, Sendable {
    package var language: String
    package var script: String
    package var region: String
  }

  /// - Parameter primary: the language for users who read none of the available languages.
  package init(available: some Collection<LanguageTag>, primary: LanguageTag? = nil) {
    let sorted = available.sorted { ($0.text.utf8.count, $0.text) < ($1.text.utf8.count, $1.text) }
    self.available = sorted.map { ($0, Self.key(of: $0)) }
    self.primary = primary
  }

  /// Returns the best language for a user, trying the most preferred one first; if none matches, the primary language if it is
  /// available.
  package func resolve(preferred: [LanguageTag]) -> LanguageTag? {
    for tag in preferred {
      if let match = match(tag) { return match }
    }
    return primary.flatMap { primary in match(primary) }
  }

  /// Returns the available language nearest to `wanted`; `nil` if none has the same language and script.
  package func match(_ wanted: LanguageTag) -> LanguageTag? {
    let chain = Self.chain(of: wanted)
    for key in chain {
      if let found = available.first(where: { $0.key == key }) { return found.tag }
    }
    guard let first = chain.first else { return nil }
    return available.first { $0.key.language == first.language && $0.key.script == first.script }?.tag
  }

  package static func key(of tag: LanguageTag) -> Key { key(of: tag.text) }

  /// Returns a tag and its parents of the same script, the nearest first.
  static func chain(of tag: LanguageTag) -> [Key] {
    let own = key(of: tag)
    var keys = [own]
    var language = Locale.Language(identifier: plain(tag.text))
    for _ in 0..<4 {
      guard let parent = language.parent, parent.languageCode?.identifier != "root" else { break }
      language = parent
      keys.append(key(of: parent.minimalIdentifier))
    }
    keys.append(key(of: "\(own.language)-\(own.script)"))
    keys.append(key(of: own.language))
    return keys.filter { $0.language == own.language && $0.script == own.script }
  }

  private static func key(of text: String) -> Key {
    let full = Locale.Language(identifier: Locale.Language(identifier: plain(text)).maximalIdentifier)
    let language = full.languageCode?.identifier ?? text
    return Key(
      language: aliases[language] ?? language, script: full.script?.identifier ?? "",
      region: full.region?.identifier ?? "")
  }

  /// Returns language, script and region only, without variants, extensions and private use.
  private static func plain(_ text: String) -> String {
    let parts = text.split(separator: "-")
    let rest = parts.dropFirst().prefix { (2...4).contains($0.utf8.count) }
    return (parts.prefix(1) + rest).joined(separator: "-")
  }

  /// Alternative codes of one language, which CLDR treats as parents or replaces.
  private static let aliases = ["nb": "no", "iw": "he", "in": "id", "ji": "yi", "tl": "fil", "mo": "ro", "jw": "jv"]
}
