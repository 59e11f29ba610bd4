import PackDelivery
import PackStore

// What a person at a terminal does about an error. The libraries speak of their API, which is no help here; and the
// command knows the names that its remedy takes.

extension DeliveryError.Limit {
  /// Whether the same command fails again for as long as its options are the same.
  var isFinal: Bool { self == .metadata || self == .redirects || self == .privateRedirects }
}

extension Failure.Facts {
  fileprivate var storeName: String { store ?? site ?? "STORE" }
  fileprivate var siteName: String { site ?? store ?? "SITE" }
}

extension PackStoreError {
  /// The command or option that helps.
  ///
  /// - Parameter subject: what the command is about.
  func advice(about subject: Failure.Facts) -> String? {
    switch detail {
    case .damagedRoot:
      "run 'packstore repair \(subject.siteName)' with '--key FILE', the key that signed it; without the key, remove the file"
        + " and promote the channel's versions again"
    case .lostRoot:
      "state the product and the expiry again, with '--product NAME' and '--expires DAYS' or '--no-expires' of"
        + " 'packstore publish' or 'packstore repair'"
    case .stepBack: "add '--back' to take the higher version back from devices"
    default: specificRemedy ?? commandAdvice(about: subject) ?? (code == .refused ? nil : remedy)
    }
  }

  /// `nil` if the library's own remedy helps.
  private func commandAdvice(about subject: Failure.Facts) -> String? {
    let store = subject.storeName
    switch code {
    case .busy: return "\(holder.map { "wait for process \($0)" } ?? "try again later"), or leave out --no-wait"
    case .conflict: return "run the command again"
    case .held:
      return "run 'packstore unpin \(store) \(packName(subject))' to let it move again"
    case .otherOrigin: return "see 'packstore trust \(store)', or take the pack over with --adopt"
    case .downgrade: return "add --downgrade to accept it"
    case .tooManyRows: return "allow more with --max-rows, if you trust the publisher"
    case .isSite:
      return "use 'packstore publish' and 'packstore unpublish', and 'packstore repair' with the site's key when it is"
        + " damaged"
    case .corrupt: return repairAdvice(for: store)
    case .purged where missingByteCount == nil: return "\(repairAdvice(for: store)); then add or pull the pack again"
    case .purged:
      return
        "fetch it again, with 'packstore pull \(store) \(subject.site ?? "SITE") \(packName(subject))'"
        + " or 'packstore repair \(store) --from PLACE', or add the pack again"
    case .ioError where concernsCacheFolder:
      return
        "set XDG_CACHE_HOME to a folder that can be written, or choose one with 'packstore place \(store) PACK purgeable"
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
  /// The command or option that helps.
  ///
  /// - Parameter subject: what the command is about.
  func advice(about subject: Failure.Facts) -> String? { commandAdvice(about: subject) ?? remedy }

  /// Nil where the library's own words will do.
  private func commandAdvice(about subject: Failure.Facts) -> String? {
    if let limit { return advice(limit) }
    if needsAuthorization {
      return "name a token with --token-file or PACKSTORE_TOKEN, or a name and a password in ~/.netrc"
    }
    switch code {
    case .noHTTP: return "run 'make release', which builds the program with HTTP and TLS, or pull from a folder"
    case .tooOld: return "try again later, or allow more with --max-age"
    case .notSigned: return "--allow-unsigned takes it"
    case .otherKey:
      guard let trustedOrigin else { return "compare --trust with what the publisher says" }
      return "ask the publisher; 'packstore trust \(subject.storeName) forget \(trustedOrigin.id)' forgets what is"
        + " trusted"
    default: return nil
    }
  }

  private func advice(_ limit: Limit) -> String {
    switch limit {
    case .metadata: "raise --metadata-limit, if you believe that it needs so much"
    case .redirects: "raise --redirects, if you believe that so many are meant"
    case .privateRedirects: "--allow-private-redirects follows it, if you believe that it is meant"
    case .answer: "try again later, or raise --answer-limit; what came so far is kept"
    case .rate: "try again later, or lower --min-rate; what came so far is kept"
    case .root: "try again later, or raise --root-limit"
    }
  }
}
