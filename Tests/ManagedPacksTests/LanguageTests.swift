import Foundation
import PackStore
import Testing

@testable import ManagedPacks

/// C11: which language a person reads, by CLDR's rules.
@Suite struct LanguageTests {
  @Test(arguments: [
    // Likely subtags: a missing subtag has its likely value.
    ("en", "en", "en"), ("en", "en-US", "en-US"), ("en-US", "en", "en"), ("en-Latn-US", "en", "en"),
    ("zh", "zh-Hans", "zh-Hans"), ("zh-TW", "zh-Hant", "zh-Hant"), ("zh-HK", "zh-Hant", "zh-Hant"),
    ("zh-Hant-HK", "zh-Hans zh-Hant", "zh-Hant"), ("sr", "sr-Cyrl", "sr-Cyrl"), ("sr-RS", "sr-Latn sr-Cyrl", "sr-Cyrl"),
    ("pt", "pt-BR", "pt-BR"), ("pt-BR", "pt-PT pt", "pt"), ("ja-JP", "ja", "ja"),
    // Parents.
    ("en-AU", "en-001 en-US", "en-001"), ("en-AU", "en en-GB", "en-GB"), ("en-GB", "en-001 en", "en-001"),
    ("es-MX", "es-419 es", "es-419"), ("es-MX", "es", "es"), ("es-AR", "es-419 es-ES", "es-419"),
    ("pt-MO", "pt-PT pt-BR", "pt-PT"), ("pt-AO", "pt-PT pt-BR", "pt-PT"), ("fr-CH", "fr", "fr"), ("de-AT", "de", "de"),
    ("zh-MO", "zh-HK zh-TW", "zh-HK"), ("nl-BE", "nl", "nl"),
    // Another region of the same language and script.
    ("en-CA", "en-GB", "en-GB"), ("fr", "fr-CA", "fr-CA"), ("es", "es-MX", "es-MX"), ("de-CH", "de-AT", "de-AT"),
    ("pt-PT", "pt-BR", "pt-BR"), ("zh-Hant-TW", "zh-Hant-HK", "zh-Hant-HK"),
    // Codes of one language.
    ("nb", "no", "no"), ("no", "nb", "nb"), ("iw", "he", "he"), ("he", "iw", "iw"), ("nb-NO", "nn nb", "nb"),
    // Ignored parts: variants, extensions, private use, case.
    ("de-DE-1996", "de", "de"), ("en-US-u-ca-buddhist", "en", "en"), ("en-x-private", "en", "en"),
    ("EN-us", "en", "en"),
    // Another script is another language.
    ("zh-Hant", "zh-Hans", ""), ("sr-Latn", "sr-Cyrl", ""), ("uz-AF", "uz", ""), ("az-IR", "az", ""),
    ("pa-PK", "pa", ""),
    // Another language.
    ("en", "de fr", ""), ("nn", "nb", ""), ("xx", "en", ""), ("de", "", ""), ("gsw", "de", ""),
  ])
  func match(wanted: String, available: String, expected: String) throws {
    let tags = try available.split(separator: " ").map { try LanguageTag($0) }
    #expect(try LanguageMatcher(available: tags).match(LanguageTag(wanted))?.text ?? "" == expected)
  }

  @Test(arguments: [
    ("de fr", "fr en", "en", "fr"), ("fr de", "fr de", "en", "fr"), ("de fr", "fr de", "en", "de"),
    ("ja", "fr en", "en", "en"), ("ja", "fr en", "", ""), ("", "fr en", "fr", "fr"), ("ja", "fr", "en", ""),
    ("ja", "fr en-GB", "en", "en-GB"), ("zh-Hant en", "zh-Hans en", "de", "en"),
  ])
  func resolve(preferred: String, available: String, primary: String, expected: String) throws {
    func tags(_ text: String) throws -> [LanguageTag] { try text.split(separator: " ").map { try LanguageTag($0) } }
    let matcher = try LanguageMatcher(available: tags(available), primary: tags(primary).first)
    #expect(try matcher.resolve(preferred: tags(preferred))?.text ?? "" == expected)
  }

  @Test(arguments: [
    (["LANG": "de_AT.UTF-8"], "de-AT"), (["LANG": "C"], ""), (["LANG": "C.UTF-8", "LANGUAGE": "de"], ""), ([:], ""),
    (["LANG": "de_DE", "LANGUAGE": "fr:en_GB"], "fr en-GB"), (["LC_ALL": "ja_JP", "LANG": "de"], "ja-JP"),
    (["LC_ALL": "", "LC_MESSAGES": "it", "LANG": "de"], "it"), (["LANG": "sr_RS.UTF-8@latin"], "sr-Latn-RS"),
    (["LANG": "ca_ES@valencia"], "ca-ES"), (["LANG": "../../etc"], ""), (["LANG": "@"], ""), (["LANG": "POSIX"], ""),
    (["LANGUAGE": ":::", "LANG": "de"], "de"), (["LANGUAGE": "zh_TW"], "zh-TW"),
  ])
  func preferences(environment: [String: String], expected: String) {
    #expect(preferredLanguages(environment).map(\.text).joined(separator: " ") == expected)
  }

  /// Files in the reader's language come before files in another one; files for every language come before both.
  @Test func localizedFiles() async throws {
    let setup = try ManagedSetup()
    for (id, language, priority) in [("De", "de", 5), ("Fr", "fr", 9), ("All", nil, 1)] as [(PackID, String?, Int32)] {
      try setup.folder.write("\(id)", to: "\(id)/intro.txt")
      var options = Store.InstallOptions()
      options.priority = priority
      options.attributes = try Attributes(language: language.map { try LanguageTag($0) }, priority: priority)
      try await setup.store.install(folder: setup.folder.path.appending(id.name), as: id, options: options)
    }
    func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
    let german = try setup.manager(environment: ["LANG": "de_AT.UTF-8"])
    #expect(try text(german.contents(at: "intro.txt")) == "De")
    #expect(try text(german.contents(at: "intro.txt", asLocalizedFor: Locale.Language(identifier: "fr-CA"))) == "Fr")
    #expect(try text(german.contents(at: "intro.txt", asLocalizedFor: Locale.Language(identifier: "ja"))) == "All")
    #expect(try text(german.contents(at: "intro.txt", searchingInAssetPackWithID: "Fr")) == "Fr")
    #expect(german.locallyAvailableLanguages == [Locale.Language(identifier: "de"), Locale.Language(identifier: "fr")])
    #expect(german.resolvedLanguage == Locale.Language(identifier: "de"))
    german.resolvedLanguage = Locale.Language(identifier: "fr")
    #expect(try text(german.contents(at: "intro.txt")) == "Fr")
    german.resolvedLanguage = nil
    #expect(try text(german.contents(at: "intro.txt")) == "De")
    #expect(try text(setup.manager().contents(at: "intro.txt")) == "Fr")  // no preference: the highest priority
  }
}
