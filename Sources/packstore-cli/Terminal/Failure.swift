import ArgumentParser
import ManagedPacks
import PackDelivery
import PackStore

/// The reason why a command failed: the message, the code that determines the exit status, and details for JSON.
struct Failure: Error {
  var code: FailureCode
  /// The object and its fault, with names that are safe to print on a terminal.
  var finding: String
  /// The command or option that helps.
  var remedy: String?
  /// Whether the same command may succeed later without a change by the user.
  var canRetry: Bool
  var facts = Facts()

  /// The details of the failure, for programs.
  struct Facts {
    var store: String?
    var site: String?
    var pack: PackID?
    /// The file, folder or asset concerned.
    var path: String?
    /// The position in a file of the store, in bytes.
    var offset: UInt64?
    /// The URL of the request to a server.
    var url: String?
    /// A number of free bytes that suffices for the failed step.
    var neededByteCount: UInt64?
    /// The number of purged bytes in the requested data.
    var missingByteCount: UInt64?
    /// The id of the process that holds the lock.
    var holder: UInt64?
    /// Names that the user may have meant.
    var suggestions: [String] = []
    /// Files that cannot be stored.
    var notices: [Store.InstallNotice] = []
    /// The specific case of the code.
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

  /// The message in one line, `object: fault; remedy`, without secrets.
  var sentence: String { hidingSecrets(in: remedy.map { "\(finding); \($0)" } ?? finding) }
}

extension Failure {
  /// Converts an error of the library, with a remedy for the command line.
  ///
  /// - Parameter subject: the store, site and pack of the command, for the remedy.
  init(_ error: PackStoreError, about subject: Facts = .init()) {
    var named = error
    // The core omits the path of the store that was called.
    if error.subject == .store(nil), let store = subject.store { named.subject = .store(store) }
    self.init(named, as: FailureCode(error.code), remedy: error.advice(about: subject))
  }

  /// Converts an error of the library, with another code and remedy.
  init(_ error: PackStoreError, as code: FailureCode, remedy: String?) {
    self.init(code, escapedText(hidingSecrets(in: error.finding)), remedy: remedy.map(escapedText))
    // The same command fails in the same way until a person has acted.
    if let detail = error.detail, [.otherRoot, .foreignChange].contains(detail) { canRetry = false }
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
    // A retry does not repair a local file, such as the file of trusted keys, an archive or a site in a folder.
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

  /// Converts any error of a command. Returns `nil` for wrong usage, help and a closed pipe.
  init?(_ error: any Error, about subject: Facts = .init()) {
    switch error {
    case let failure as Failure: self = failure
    case let error as PackStoreError: self.init(error, about: subject)
    case let error as DeliveryError: self.init(error, about: subject)
    case let error as ManagedPacksError:
      self.init(FailureCode(error.code), escapedText(error.reason), remedy: escapedText(error.remedy))
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

/// A failure as `--json` prints it.
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

/// The object of an error, with its kind.
struct SubjectReport: Encodable {
  let type: String
  let name: String?

  init(_ subject: PackStoreError.Subject) {
    type = subject.type
    name = subject.name.map(withoutSecrets)
  }
}

/// A warning as `--json` prints it.
struct WarningReport: Encodable {
  let level = "warning"
  let code: WarningCode
  let message: String
}

// MARK: - Objects of commands

/// A command with a store, site or pack, for errors that do not name them.
protocol CommandWithSubject {
  var subject: Failure.Facts { get }
}

/// An error that ended a command, with the command's store, site and pack.
struct CommandError: Error {
  let cause: any Error
  let subject: Failure.Facts

  init(_ cause: any Error, of command: any ParsableCommand) {
    self.init(cause, about: (command as? any CommandWithSubject)?.subject ?? .init())
  }

  init(_ cause: any Error, about subject: Failure.Facts) {
    self.cause = cause
    self.subject = subject
  }

  var failure: Failure? {
    guard var failure = Failure(cause, about: subject) else { return nil }
    failure.facts.store = failure.facts.store ?? subject.store
    failure.facts.site = failure.facts.site ?? subject.site
    failure.facts.pack = failure.facts.pack ?? subject.pack
    // Wrong usage and cancellation have no object.
    if failure.facts.subject == nil, ![.usage, .cancelled].contains(failure.code) {
      failure.facts.subject = failure.facts.store.map { .store($0) } ?? failure.facts.site.map { .site($0) }
    }
    return failure
  }
}
