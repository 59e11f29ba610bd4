import ArgumentParser
import ManagedPacks
import PackDelivery
import PackStore

/// The reason why a command failed: its message and the source of its exit status.
struct Failure: Error {
  var code: FailureCode
  /// What went wrong, with names that are safe to show.
  var finding: String
  /// What to do about it, in terms of commands and options.
  var remedy: String?
  /// Whether the same command may succeed later although its user changes nothing.
  var canRetry: Bool
  var facts = Facts()

  /// The exact objects of the failure, for programs.
  struct Facts {
    var store: String?
    var site: String?
    var pack: PackID?
    /// The file, folder or asset concerned.
    var path: String?
    /// Where in a file of the store, in bytes.
    var offset: UInt64?
    /// The URL of the request to a server.
    var url: String?
    /// A number of bytes that would have been enough for the step that failed.
    var neededByteCount: UInt64?
    /// The number of purged bytes in the requested data.
    var missingByteCount: UInt64?
    /// The process that is in the way.
    var holder: UInt64?
    /// Names that the user may have meant.
    var suggestions: [String] = []
    /// Files that cannot be stored.
    var notices: [Store.InstallNotice] = []
    /// The case of the code.
    var detail: PackStoreError.Detail?
    /// The object that the finding names first.
    var subject: PackStoreError.Subject?
  }

  init(
    _ code: FailureCode, _ finding: String, remedy: String? = nil, path: String? = nil, pack: PackID? = nil
  ) {
    self.code = code
    self.finding = finding
    self.remedy = remedy
    canRetry = code.canRetry
    facts.path = path
    facts.pack = pack
    facts.subject = path.map { $0.contains("://") ? .site($0) : .file($0) } ?? pack.map { .pack($0) }
  }

  /// One line, `object: fault; remedy`.
  var sentence: String { hidingSecrets(in: remedy.map { "\(finding); \($0)" } ?? finding) }
}

extension Failure {
  /// The library's error with the command or option that helps.
  ///
  /// - Parameter subject: the objects of the command, for the remedy.
  init(_ error: PackStoreError, about subject: Facts = .init()) {
    var named = error
    // The core does not repeat the path of the call's store.
    if error.subject == .store(nil), let store = subject.store { named.subject = .store(store) }
    self.init(named, as: FailureCode(error.code), remedy: error.advice(about: subject))
  }

  /// The library's error with another code or remedy.
  init(_ error: PackStoreError, as code: FailureCode, remedy: String?) {
    self.init(code, escapedText(hidingSecrets(in: error.finding)), remedy: remedy.map(escapedText))
    facts.detail = error.detail
    facts.subject = error.subject
    facts.pack = error.subject?.pack
    facts.suggestions = error.suggestions
    facts.path = facts.pack == nil ? error.asset ?? error.subject?.path.map(withoutSecrets) : nil
    facts.offset = error.offset
    facts.neededByteCount = error.neededByteCount
    facts.missingByteCount = error.missingByteCount
    facts.holder = error.holder
    facts.notices = error.notices
  }

  init(_ error: DeliveryError, about subject: Facts = .init()) {
    let isURL = error.location?.contains("://") == true
    // A retry does not repair a local file: the file of trusted keys, an archive, a site in a folder.
    let isLocalDamage = error.code == .corrupt && error.location != nil && !isURL
    self.init(
      isLocalDamage ? .corrupt : FailureCode(error.code), escapedText(error.finding),
      remedy: error.advice(about: subject).map(escapedText))
    canRetry = canRetry && error.limit?.isFinal != true
    facts.subject = error.location.map { isURL ? .site($0) : .file($0) }
    facts.pack = error.pack
    facts.suggestions = error.suggestions
    facts.url = isURL ? error.location : nil
    facts.path = isURL ? nil : error.location
    facts.offset = error.offset
  }

  /// The failure for another error; `nil` for wrong usage, help and a closed pipe.
  init?(_ error: any Error, about subject: Facts = .init()) {
    switch error {
    case let failure as Failure: self = failure
    case let error as PackStoreError: self.init(error, about: subject)
    case let error as DeliveryError: self.init(error, about: subject)
    case let error as ManagedPacksError: self.init(FailureCode(error.code), error.reason, remedy: error.remedy)
    case let error as ManagedBackgroundAssetsError: self.init(.noPack, escaped("\(error)"))
    case let error as AssetPackManager.LocalAvailabilityError:
      self.init(.failed, escaped("\(error)"))
      canRetry = true
    case is CancellationError: self.init(.cancelled, "cancelled")
    default: return nil
    }
  }
}

// MARK: - The error object

/// What `--json` prints for a failure.
struct FailureReport: Encodable {
  let level = "error"
  let code: FailureCode
  let detail: PackStoreError.Detail?
  let exit: Int32
  let retry: Bool
  let message: String
  let remedy: String?
  let subject: SubjectReport?
  let store, site, pack, path, url: String?
  let offset, neededBytes, missingBytes, holder: UInt64?
  let suggestions: [String]?
  let notices: [NoticeReport]?

  init(_ failure: Failure) {
    code = failure.code
    detail = failure.facts.detail
    exit = failure.code.exitStatus.rawValue
    retry = failure.canRetry
    message = hidingSecrets(in: failure.finding)
    remedy = failure.remedy.map(hidingSecrets)
    let facts = failure.facts
    subject = facts.subject.map(SubjectReport.init)
    store = facts.store.map(withoutSecrets)
    site = facts.site.map(withoutSecrets)
    pack = facts.pack?.name
    path = facts.path.map(withoutSecrets)
    url = facts.url.map(withoutSecrets)
    offset = facts.offset
    neededBytes = facts.neededByteCount
    missingBytes = facts.missingByteCount
    holder = facts.holder
    suggestions = facts.suggestions.isEmpty ? nil : facts.suggestions
    notices = facts.notices.isEmpty ? nil : facts.notices.map(NoticeReport.init)
  }
}

/// The object of an error, by its kind.
struct SubjectReport: Encodable {
  let type: String
  let name: String?

  init(_ subject: PackStoreError.Subject) {
    type = subject.type
    name = subject.name.map(withoutSecrets)
  }
}

/// What `--json` prints for a warning.
struct WarningReport: Encodable {
  let level = "warning"
  let code: WarningCode
  let message: String
}

// MARK: - Objects of commands

/// A command that names its objects, for errors that do not.
protocol CommandWithSubject {
  var subject: Failure.Facts { get }
}

/// An error and the facts of the command that it ended.
struct CommandError: Error {
  let cause: any Error
  let subject: Failure.Facts

  init(_ cause: any Error, of command: any ParsableCommand) {
    self.cause = cause
    subject = (command as? any CommandWithSubject)?.subject ?? .init()
  }

  var failure: Failure? {
    guard var failure = Failure(cause, about: subject) else { return nil }
    failure.facts.store = failure.facts.store ?? subject.store
    failure.facts.site = failure.facts.site ?? subject.site
    failure.facts.pack = failure.facts.pack ?? subject.pack
    // Wrong usage and a cancelled command are about no object.
    if failure.facts.subject == nil, ![.usage, .cancelled].contains(failure.code) {
      failure.facts.subject = failure.facts.store.map { .store($0) } ?? failure.facts.site.map { .site($0) }
    }
    return failure
  }
}
