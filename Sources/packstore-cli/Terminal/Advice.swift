import PackDelivery
import PackStore

// Remedies for users of the command line. The libraries' remedies name functions of their API; these name commands and options,
// with the names of the store, site and pack that the user gave.

extension DeliveryError.Limit {
  /// Whether the command fails again unless its options change.
  var isFinal: Bool { self == .metadata || self == .redirects || self == .privateRedirects }
}

extension Failure.Facts {
  fileprivate var storeName: String { store ?? site ?? "STORE" }
  fileprivate var siteName: String { site ?? store ?? "SITE" }
}

extension PackStoreError {
  /// Returns the remedy: the command or option that helps.
  ///
  /// - Parameter subject: the store, site and pack of the command.
  func advice(about subject: Failure.Facts) -> String? {
    switch detail {
    case .damagedRoot:
      "run 'packstore repair \(subject.siteName) --key FILE' with the key that signed the root; without the key, delete"
        + " the root's file and promote the channel's versions again"
    case .lostRoot:
      "run 'packstore publish' or 'packstore repair' with '--product NAME' and '--expires DAYS' or '--no-expires'"
    case .stepBack: "add '--back' to take it back from devices"
    case .noExpiry: "add '--expires DAYS', such as '--expires 90', or end the releases in steps of the channel"
    default: specificRemedy ?? commandAdvice(about: subject) ?? (code == .refused ? nil : remedy)
    }
  }

  /// Returns the remedy as a command or option; `nil` if the library's remedy applies.
  private func commandAdvice(about subject: Failure.Facts) -> String? {
    let store = subject.storeName
    switch code {
    case .busy: return "\(holder.map { "wait for process \($0)" } ?? "try again later"), or omit --no-wait"
    case .conflict: return "run the command again"
    case .held:
      return "run 'packstore unpin \(store) \(packName(subject))' to allow other versions"
    case .otherOrigin: return "add --adopt to change its origin; 'packstore trust \(store)' lists the origins"
    case .downgrade: return "add --downgrade to accept it"
    case .tooManyRows: return "if you trust the publisher, raise --max-rows"
    case .isSite:
      return "use 'packstore publish' and 'packstore unpublish'; if the site is damaged, run"
        + " 'packstore repair' with its key"
    case .corrupt: return repairAdvice(for: store)
    case .purged where missingByteCount == nil: return "\(repairAdvice(for: store)); then add or pull the pack again"
    case .purged:
      return
        "fetch it again with 'packstore pull \(store) \(subject.site ?? "SITE") \(packName(subject))'"
        + " or 'packstore repair \(store) --from PLACE', or add the pack again"
    case .ioError where concernsCacheFolder:
      return
        "set XDG_CACHE_HOME to a writable folder, or choose one with 'packstore place \(store) PACK purgeable"
        + " --cache FOLDER'; nothing was changed"
    case .invalidArgument where detail == .noCacheFolder:
      return "set XDG_CACHE_HOME, or choose one with 'packstore place \(store) PACK purgeable --cache FOLDER'"
    default: return nil
    }
  }

  private func packName(_ facts: Failure.Facts) -> String { (subject?.pack ?? facts.pack)?.name ?? "PACK" }

  private var concernsCacheFolder: Bool {
    if case .cacheFolder? = subject { true } else { false }
  }
}

extension DeliveryError {
  /// Returns the remedy: the command or option that helps.
  ///
  /// - Parameter subject: the store, site and pack of the command.
  func advice(about subject: Failure.Facts) -> String? { commandAdvice(about: subject) ?? remedy }

  /// Returns the remedy as a command or option; `nil` if the library's remedy applies.
  private func commandAdvice(about subject: Failure.Facts) -> String? {
    if let limit { return advice(limit) }
    if needsAuthorization {
      return "set a token with --token-file or PACKSTORE_TOKEN, or a name and password in ~/.netrc"
    }
    switch code {
    case .noHTTP: return "run 'make release', which builds the program with HTTP and TLS, or pull from a folder"
    case .tooOld: return "try again later, or raise --max-age"
    case .notSigned: return "add --allow-unsigned to accept it"
    case .otherKey:
      guard let trustedOrigin else { return "compare the key of --trust with the publisher's" }
      return "ask the publisher; to remove the trusted key, run 'packstore trust \(subject.storeName) forget"
        + " \(trustedOrigin.id)'"
    default: return nil
    }
  }

  private func advice(_ limit: Limit) -> String {
    switch limit {
    case .metadata: "if you trust the site, raise --metadata-limit"
    case .redirects: "if you trust the site, raise --redirects"
    case .privateRedirects: "if you trust the site, add --allow-private-redirects"
    case .answer: "try again later, or raise --answer-limit; received data is kept"
    case .rate: "try again later, or lower --min-rate; received data is kept"
    case .root: "try again later, or raise --root-limit"
    }
  }
}
