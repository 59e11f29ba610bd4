@c(pkm_manager_resolved_language)
public func resolvedLanguage(_ manager: OpaquePointer) -> UnsafeMutablePointer<CChar>? {
  ManagerBox.of(manager).manager.resolvedLanguage.flatMap { copied($0.minimalIdentifier) }
}

@c(pkm_manager_set_language)
public func setLanguage(
  _ manager: OpaquePointer, _ language: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    box.manager.resolvedLanguage = try language.map { Locale.Language(identifier: try LanguageTag(text($0)).text) }
  }
}

@c(pkm_manager_reconcile_languages)
public func reconcileLanguages(_ manager: OpaquePointer, _ error: UnsafeMutablePointer<pkm_error>?) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) { try waiting { try await box.manager.reconcilePreferredLanguages() } }
}
