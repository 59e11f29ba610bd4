/// The packs that are offered to an app.
public struct AssetPackManifest: Hashable, Sendable {
  /// The group of apps for which the manifest was read.
  public let appGroupID: String

  public let assetPacks: Set<AssetPack>

  /// The language of packs that specify none; `nil` if the site does not specify it.
  public let primaryLanguage: Locale.Language?

  /// The language in which the app's packs are read; `nil` if no pack specifies a language.
  public let resolvedLanguage: Locale.Language?

  package init(
    appGroupID: String, assetPacks: Set<AssetPack>, primaryLanguage: LanguageTag? = nil,
    resolvedLanguage: LanguageTag? = nil
  ) {
    self.appGroupID = appGroupID
    self.assetPacks = assetPacks
    self.primaryLanguage = primaryLanguage.map { Locale.Language(identifier: $0.text) }
    self.resolvedLanguage = resolvedLanguage.map { Locale.Language(identifier: $0.text) }
  }

  /// The languages of the packs.
  public var availableLanguages: Set<Locale.Language> { Set(assetPacks.compactMap(\.language)) }

  /// The packs in the resolved language.
  public var localizedAssetPacks: Set<AssetPack> { resolvedLanguage.map { localizedAssetPacks(for: $0) } ?? [] }

  /// Returns the packs in the language nearest to `language`; empty if no pack's language matches it.
  public func localizedAssetPacks(for language: Locale.Language) -> Set<AssetPack> {
    let tags = Set(assetPacks.compactMap(\.languageTag))
    guard let wanted = try? LanguageTag(language.maximalIdentifier),
      let nearest = LanguageMatcher(available: tags).match(wanted)
    else { return [] }
    return assetPacks.filter {
      $0.languageTag.map { LanguageMatcher.key(of: $0) == LanguageMatcher.key(of: nearest) } ?? false
    }
  }

  /// Returns the pack with an id.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  public func assetPack(withID id: String) throws -> AssetPack {
    guard let pack = assetPacks.first(where: { $0.id == id }) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    }
    return pack
  }
}
