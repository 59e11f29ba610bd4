/// The packs that are offered to an app.
public struct AssetPackManifest: Hashable, Sendable {
  /// The group of apps that it was read for.
  public let appGroupID: String

  public let assetPacks: Set<AssetPack>

  /// The language of packs that name none; nil: the site does not say.
  public let primaryLanguage: Locale.Language?

  /// The language that the app's packs are read in; nil where no pack has one.
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

  /// The languages that packs are in.
  public var availableLanguages: Set<Locale.Language> { Set(assetPacks.compactMap(\.language)) }

  /// The packs in the resolved language.
  public var localizedAssetPacks: Set<AssetPack> { resolvedLanguage.map { localizedAssetPacks(for: $0) } ?? [] }

  /// The packs in the language that comes nearest to another one; none where all are in languages of other people.
  public func localizedAssetPacks(for language: Locale.Language) -> Set<AssetPack> {
    let tags = Set(assetPacks.compactMap(\.languageTag))
    guard let wanted = try? LanguageTag(language.maximalIdentifier),
      let nearest = LanguageMatcher(available: tags).match(wanted)
    else { return [] }
    return assetPacks.filter {
      $0.languageTag.map { LanguageMatcher.key(of: $0) == LanguageMatcher.key(of: nearest) } ?? false
    }
  }

  /// The pack of that name.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  public func assetPack(withID id: String) throws -> AssetPack {
    guard let pack = assetPacks.first(where: { $0.id == id }) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    }
    return pack
  }
}
