// Languages: the language of packs, and a file for a reader of another language.

import BackgroundAssets

/// Reads the greeting in the language that the player prefers, and for a guest.
func greetings(forGuestSpeaking guest: Locale.Language) async throws -> [String] {
  let manager = AssetPackManager.shared
  let manifest = try await manager.manifest
  guard manifest.availableLanguages.contains(guest),
    let primary = manifest.primaryLanguage ?? manifest.availableLanguages.first
  else { return [] }
  manager.resolvedLanguage = primary
  try await manager.reconcilePreferredLanguages()
  try await manager.ensureLocalAvailability(
    of: manifest.localizedAssetPacks(for: guest).union(manifest.localizedAssetPacks))
  guard manager.locallyAvailableLanguages.contains(guest) else { return [] }
  let own = try manager.contents(at: "greeting.txt")
  let other = try manager.contents(at: "greeting.txt", asLocalizedFor: guest)
  manager.resolvedLanguage = nil
  return [own, other].map { String(decoding: $0, as: UTF8.self) }
}
