/// The exit statuses of the program. The manual, `packstore --help` and Docs/CommandLine.md list them, too.
enum ProgramStatus: Int32, CaseIterable {
  case done = 0
  /// Failures without a status of their own.
  case failed = 1
  /// The command line is invalid.
  case usage = 2
  /// The site could not be fetched.
  case network = 3
  /// A signature, key, origin, age or version was refused.
  case trust = 4
  /// The disk is full.
  case space = 5
  /// Another process holds a lock or made a conflicting change.
  case busy = 6
  /// Bytes are damaged or lost.
  case damage = 7
  /// The command was cancelled by Ctrl-C, SIGTERM or SIGHUP.
  case cancelled = 130
}

extension FailureCode {
  var exitStatus: ProgramStatus {
    switch self {
    case .failed, .notFound, .notAStore, .wrongKind, .readOnly, .refused, .sourceChanged, .exists, .notContiguous,
      .held, .forked, .hostileNames, .tooManyRows, .isSite, .outOfMemory, .ioError, .newerFormat, .otherDraft, .inUse,
      .noPack, .closedChannel, .noHTTP, .publisherOutOfDate:
      .failed
    case .usage, .invalidArgument, .invalidLocation: .usage
    case .noSite, .unreachable, .denied, .badResponse, .siteChanged: .network
    case .otherOrigin, .downgrade, .stale, .untrusted, .notSigned, .badSignature, .otherKey, .otherChannel, .forkedRoot,
      .fromTheFuture, .tooOld, .expired, .noKey:
      .trust
    case .noSpace: .space
    case .busy, .conflict: .busy
    case .corrupt, .purged, .dataLost, .siteCorrupt: .damage
    case .cancelled: .cancelled
    }
  }
}
