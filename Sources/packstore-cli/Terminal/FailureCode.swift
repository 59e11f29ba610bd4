import ManagedPacks
import PackDelivery
import PackStore

/// The kinds of failure, each with a stable word: `code` of the error object that `--json` prints.
enum FailureCode: String, CaseIterable, Encodable {
  case failed
  case usage
  case cancelled

  case invalidArgument = "invalid_argument"
  case notFound = "not_found"
  case notAStore = "not_a_store"
  case wrongKind = "wrong_kind"
  case readOnly = "read_only"
  case busy
  case refused
  case sourceChanged = "source_changed"
  case exists
  case notContiguous = "not_contiguous"
  case conflict
  case held
  case forked
  case hostileNames = "hostile_names"
  case tooManyRows = "too_many_rows"
  case isSite = "is_site"
  case otherOrigin = "other_origin"
  case downgrade
  case stale
  case outOfMemory = "out_of_memory"
  case ioError = "io_error"
  case noSpace = "no_space"
  case corrupt
  case newerFormat = "newer_format"
  case otherDraft = "other_draft"
  case purged
  case untrusted
  /// An origin that still has packs cannot be forgotten.
  case inUse = "in_use"
  /// A repair could not restore all data.
  case dataLost = "data_lost"

  case invalidLocation = "invalid_location"
  case noHTTP = "no_http"
  case noSite = "no_site"
  case noPack = "no_pack"
  case unreachable
  case denied
  case badResponse = "bad_response"
  case siteChanged = "site_changed"
  /// Data of a site differs from the data listed in its root. Damage in a store is `corrupt`.
  case siteCorrupt = "site_corrupt"
  case notSigned = "not_signed"
  case badSignature = "bad_signature"
  case otherKey = "other_key"
  case otherChannel = "other_channel"
  case closedChannel = "closed_channel"
  case forkedRoot = "forked_root"
  case fromTheFuture = "from_the_future"
  case tooOld = "too_old"
  case expired
  /// The publisher of a site signed an older state.
  case publisherOutOfDate = "publisher_out_of_date"
  /// The secret key for signing is missing.
  case noKey = "no_key"
}

extension FailureCode {
  /// Whether the same command may succeed later without a change by the user.
  var canRetry: Bool {
    switch self {
    case .busy, .conflict, .sourceChanged, .stale, .outOfMemory, .unreachable, .badResponse, .siteChanged, .tooOld,
      .publisherOutOfDate, .cancelled:
      true
    case .failed, .usage, .invalidArgument, .notFound, .notAStore, .wrongKind, .readOnly, .refused, .exists,
      .notContiguous, .held, .forked, .hostileNames, .tooManyRows, .isSite, .otherOrigin, .downgrade, .ioError,
      .noSpace, .corrupt, .siteCorrupt,
      .newerFormat, .otherDraft, .purged, .untrusted, .inUse, .dataLost, .invalidLocation, .noHTTP, .noSite, .noPack,
      .denied,
      .notSigned,
      .badSignature, .otherKey, .otherChannel, .closedChannel, .forkedRoot, .fromTheFuture, .expired, .noKey:
      false
    }
  }
}

extension FailureCode {
  init(_ code: PackStoreError.Code) {
    guard let known = code.known else {
      self = .failed  // a code of a later core
      return
    }
    self =
      switch known {
      case .invalidArgument: .invalidArgument
      case .notFound: .notFound
      case .notAStore: .notAStore
      case .wrongKind: .wrongKind
      case .readOnly: .readOnly
      case .busy: .busy
      case .refused: .refused
      case .sourceChanged: .sourceChanged
      case .exists: .exists
      case .notContiguous: .notContiguous
      case .conflict: .conflict
      case .held: .held
      case .forked: .forked
      case .hostileNames: .hostileNames
      case .tooManyRows: .tooManyRows
      case .isSite: .isSite
      case .otherOrigin: .otherOrigin
      case .downgrade: .downgrade
      case .stale: .stale
      case .outOfMemory: .outOfMemory
      case .ioError: .ioError
      case .noSpace: .noSpace
      case .corrupt: .corrupt
      case .newerFormat: .newerFormat
      case .otherDraft: .otherDraft
      case .purged: .purged
      case .untrusted: .untrusted
      }
  }

  init(_ code: DeliveryError.Code) {
    self =
      switch code.known {
      case .invalidLocation: .invalidLocation
      case .noHTTP: .noHTTP
      case .noSite: .noSite
      case .noPack: .noPack
      case .unreachable: .unreachable
      case .ioError: .ioError
      case .denied: .denied
      case .badResponse: .badResponse
      case .siteChanged: .siteChanged
      case .corrupt: .siteCorrupt
      case .newerFormat: .newerFormat
      case .otherDraft: .otherDraft
      case .notSigned: .notSigned
      case .badSignature: .badSignature
      case .otherKey: .otherKey
      case .otherChannel: .otherChannel
      case .closedChannel: .closedChannel
      case .forkedRoot: .forkedRoot
      case .fromTheFuture: .fromTheFuture
      case .tooOld: .tooOld
      case .expired: .expired
      }
  }

  init(_ code: ManagedPacksError.Code) {
    self =
      switch code {
      case .noConfiguration: .notFound
      case .invalidConfiguration, .invalidPath: .invalidArgument
      case .groupFolder, .agent, .appsDisagree, .override: .refused
      case .newerJournal: .newerFormat
      case .notOffered: .noPack
      case .staleSite: .stale
      case .lowSpace: .noSpace
      }
  }

  /// Returns the code for the error number of a system call.
  init(systemError number: Int32) {
    self =
      switch Errno(rawValue: number) {
      case .noSuchFileOrDirectory: .notFound
      case .notDirectory, .isDirectory, .tooManySymbolicLinkLevels: .wrongKind
      case .fileExists: .exists
      case .noSpace, .diskQuotaExceeded: .noSpace
      case .noMemory: .outOfMemory
      default: .ioError
      }
  }
}
