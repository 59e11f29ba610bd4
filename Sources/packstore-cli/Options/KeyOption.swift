import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

/// Options for the key that a publisher signs with. To clients, a new key is a new publisher, so a key is created only on request.
struct KeyOption: ParsableArguments {
  @Option(
    help: .init(
      """
      File with the secret key (default: ~/.config/packstore/site.key); - reads it from standard input, fd:N from an \
      open file, env:NAME from a variable.
      """,
      valueName: "file"),
    completion: .file())
  var key: String?

  @Flag(help: "Create the file of --key, a release key, and its root key, for a new publisher.")
  var newKey = false

  @OptionGroup var signing: SigningOptions
  @OptionGroup var clock: ClockOption

  /// Reads the key, or creates the key and its root key if `--new-key` is set.
  ///
  /// - Parameters:
  ///   - product: the product to sign for, if the user specified one.
  ///   - signed: the object that another key has signed, for error messages, such as "the site"; a new key is then refused. `nil`
  ///     if nothing is signed.
  ///   - isDryRun: whether `--new-key` returns a key that is not written to a file.
  /// - Throws: ``Failure``: `noKey` if the key is missing, `exists` if `--new-key` names an existing file, `usage` if `--new-key`
  ///   is used without a key file, `untrusted` if the key is for another product.
  func open(
    for product: Store.Product? = nil, quiet: Bool, signed: String? = nil, isDryRun: Bool = false
  ) throws -> SiteKey {
    let file = try KeyFile(key)
    guard newKey else {
      return try signing.complete(
        try file.open(for: product, quiet: quiet, signed: signed, clock: clock), isDryRun: isDryRun)
    }
    try file.requireNew(signed: signed)
    try clock.require(quiet: quiet)
    return isDryRun ? SiteKey() : try file.make(for: product, quiet: quiet)
  }

  /// Whether the key exists.
  var exists: Bool { get throws { try KeyFile(key).exists } }

  /// The file next to the key that records the highest sequence numbers signed with it; `nil` if the key is not in a file.
  var markFile: FilePath? { get throws { try KeyFile(key).markFile } }
}

/// Options for the key that signed a site.
struct SiteKeyOption: ParsableArguments {
  @Option(
    help: .init(
      """
      File with the secret key that signed the site (default: ~/.config/packstore/site.key); - reads it from standard \
      input, fd:N from an open file, env:NAME from a variable.
      """,
      valueName: "file"),
    completion: .file())
  var key: String?

  @OptionGroup var signing: SigningOptions
  @OptionGroup var change: ChangeNoteOption
  @OptionGroup var clock: ClockOption

  func open(quiet: Bool) throws -> SiteKey {
    try signing.complete(try KeyFile(key).open(quiet: quiet, signed: "the site", clock: clock))
  }
}

/// A file with a secret key, or another source of the key.
struct KeyFile {
  private let path: FilePath

  /// The source of the key if it is not a file; `nil` for a file.
  private let given: GivenKey?

  init(_ name: String?) throws {
    given = try name.flatMap(GivenKey.init)
    path = try keyFile(name)
  }

  var exists: Bool { given != nil || pathExists(path) }

  var markFile: FilePath? { given == nil ? FilePath(path.string + ".marks") : nil }

  /// Reads the key. Warns if it expires soon.
  ///
  /// - Parameter signed: the object that the key signed before, for error messages; `nil` if nothing is signed.
  func open(
    for product: Store.Product? = nil, quiet: Bool, signed: String?, clock: ClockOption
  ) throws -> SiteKey {
    guard exists else { throw missing(signed: signed) }
    try clock.require(quiet: quiet)
    let key = try namingKeyFaults { try given.map { try $0.read() } ?? SiteKey(contentsOf: path) }
    if let product, let delegation = key.delegation, delegation.product != product {
      throw otherProduct(product, delegation)
    }
    if let end = key.endsAt, !quiet, end > .now, end.timeIntervalSinceNow < Self.warningTime {
      warn(
        .keyExpires, "the key may sign until \(formatDate(end)): run 'packstore delegate' with the root key before that"
      )
    }
    return key
  }

  /// Creates a release key and its root key, and reports both files. Without the root key, the owner cannot replace the release
  /// key.
  func make(for product: Store.Product?, quiet: Bool) throws -> SiteKey {
    let (key, made) = try namingKeyFaults {
      try SiteKey.readOrMakeRelease(path, options: .init(product: product))
    }
    if let made, !quiet { warn(.newKey, description(of: made)) }
    return key
  }

  /// Returns the report of the created keys, with the owner's next step.
  private func description(of made: SiteKey.DelegationResult) -> String {
    let names = (release: escaped(path.string), root: escaped(SiteKey.rootFile(beside: path).string))
    let end = made.endsAt.map { " signs until \(formatDate($0))" } ?? " signs without expiry"
    return
      "created a release key in '\(names.release)' and its root key in '\(names.root)': move the root key to a safe place"
      + " off this machine; clients trust \(made.rootKey), and the release key\(end)"
  }

  /// Returns the error for a release key of another product: a root key delegates one release key per product.
  private func otherProduct(_ product: Store.Product, _ delegation: KeyDelegation) -> Failure {
    let beside = SiteKey.rootFile(beside: path)
    let root = pathExists(beside) ? beside : "ROOT.key"
    let new = path.removingLastComponent().appending("\(product).key")
    return Failure(
      .untrusted,
      "'\(escaped(path.string))': the key is for the product '\(delegation.product)', not for '\(product)'",
      remedy:
        "create one for it with 'packstore delegate \(escaped(root.string)) \(escaped(new.string)) --product \(product)',"
        + " and name that with --key", path: path.string)
  }

  /// Checks that `--new-key` can create the key file.
  func requireNew(signed: String?) throws {
    guard given == nil else {
      throw Failure(.usage, "--new-key needs a key file", remedy: "name a file with --key, or leave out --new-key")
    }
    if let signed { throw missing(signed: signed) }
    guard !exists else {
      throw Failure(
        .exists, "'\(escaped(path.string))': the key file exists already",
        remedy: "leave out --new-key to sign with it, or name another file with --key", path: path.string)
    }
  }

  private func missing(signed: String?) -> Failure {
    let name = escaped(path.string)
    guard let signed else {
      return Failure(
        .noKey, "'\(name)': the key file does not exist",
        remedy: "check the name given with --key; for a new publisher, add --new-key or run 'packstore keygen \(name)'",
        path: path.string)
    }
    let finding = exists ? "--new-key would create another key" : "'\(name)': the key file does not exist"
    return Failure(
      .noKey, "\(finding), but \(signed) is already signed",
      remedy: "name the key that signed it with --key\(exists ? ", and leave out --new-key" : "")", path: path.string)
  }

  /// Keys that expire within this time cause a warning: 30 days.
  private static let warningTime: TimeInterval = 30 * 86_400
}

/// Runs `body`, which reads key files. Reports an invalid key file as a missing key, not as damage of a store or a site.
func namingKeyFaults<Result>(_ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as PackStoreError where error.code == .corrupt {
    throw Failure(error, as: .noKey, remedy: error.specificRemedy)
  }
}

/// A source of a secret key that is not a named file: a build job has the key in a variable or a pipe. No key is created there.
enum GivenKey: Equatable {
  case descriptor(Int32)
  case variable(String)

  /// Parses `-`, `fd:N` and `env:NAME`. Returns `nil` for the name of a file.
  init?(_ name: String) throws {
    if name == "-" {
      self = .descriptor(0)
    } else if name.hasPrefix("fd:") {
      guard let number = Int32(name.dropFirst(3)), number >= 0 else {
        throw Failure(
          .usage, "'\(escaped(name))': not an open file", remedy: "write 'fd:' and its number, such as fd:3")
      }
      self = .descriptor(number)
    } else if name.hasPrefix("env:") {
      self = .variable(String(name.dropFirst(4)))
    } else {
      return nil
    }
  }

  func read() throws -> SiteKey {
    switch self {
    case .descriptor(let number): return try SiteKey(contentsOf: FileDescriptor(rawValue: number))
    case .variable(let name):
      guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else {
        throw Failure(
          .noKey, "variable '\(escaped(name))': does not contain a key",
          remedy: "set it to the content of a key file, or name a file with --key")
      }
      return try SiteKey(text: text, source: "the variable '\(escaped(name))'")
    }
  }
}

/// Returns the given key file, or the default key file.
func keyFile(_ name: String?) throws -> FilePath {
  if let name { return FilePath(name) }
  guard let file = SiteKey.defaultFile(environment: ProcessInfo.processInfo.environment) else {
    throw Failure(.failed, "HOME is not set, so the key has no folder", remedy: "name a file for the key")
  }
  return file
}

/// Option for the product of the packs.
struct ProductOption: ParsableArguments {
  @Option(
    help: .init(
      "Product of the packs; clients accept updates only from the same key and product (default: 'default').",
      valueName: "name"), transform: parseProduct)
  var product: Store.Product?
}

@Sendable private func parseProduct(_ name: String) throws -> Store.Product {
  do { return try Store.Product(name) } catch let error as PackStoreError {
    throw ValidationError(error.remedy.map { "\(error.reason); \($0)" } ?? error.reason)
  }
}

/// Options for the time after which clients refuse a root.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: .init(
      "Days until clients refuse the site unless it is published or refreshed; kept for later publications.",
      valueName: "days"))
  var expires: Int?

  @Flag(help: "Remove the site's expiry.")
  var noExpires = false

  func validate() throws {
    guard (1...36_500).contains(expires ?? 1) else { throw ValidationError("--expires must be from 1 to 36500 days") }
    guard expires == nil || !noExpires else { throw ValidationError("--expires and --no-expires exclude each other") }
  }

  var expiry: Site.PublishOptions.Expiry {
    if let expires { return .after(.seconds(expires * 86_400)) }
    return noExpires ? .never : .asBefore
  }
}

let levelHelp = "Compression level, from 1 (fast) to 22 (small), or from -1 to -7 (larger, faster to read)"

extension ParsableArguments {
  /// Fails if `--level` is out of range.
  func validate(level: Int32?) throws {
    guard let level, !Store.CompressionLevel.exists(level) else { return }
    throw ValidationError("--level must be \(Store.CompressionLevel.range), not \(level)")
  }
}

/// Options for the encoding of a store's content in an archive.
struct ArchiveEncodingOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: .init("\(levelHelp) (default: 12).", valueName: "n"))
  var level: Int32?

  @Option(help: "\(layoutHelp) (default: random).")
  var layout: Store.InstallOptions.Layout?

  func validate() throws { try validate(level: level) }
}

/// Options for the encoding of a manifest's content. They override the manifest.
struct ManifestEncodingOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: .init("\(levelHelp) (default: the manifest's, or 12).", valueName: "n"))
  var level: Int32?

  @Option(help: "\(layoutHelp) (default: the manifest's, or random).")
  var layout: Store.InstallOptions.Layout?

  @Option(
    help: .init(
      "Publisher's name for the version of a manifest, such as 1.4.2 (default: the manifest's).", valueName: "name"),
    transform: parseLabel)
  var label: VersionLabel?

  @Option(
    help: .init(
      """
      With '--publish-notes': note on the version of a manifest, such as 'git 3fa9c' (default: the manifest's). \
      'publish' also records it for 'packstore history', where devices cannot read it.
      """, valueName: "text"), transform: parseNote)
  var note: VersionNote?

  @Flag(help: "Make the note part of the version, readable by everyone who receives it.")
  var publishNotes = false

  func validate() throws { try validate(level: level) }
}

/// Option for the compression level of a site's deltas.
struct DeltaLevelOption: ParsableArguments {
  @Option(help: .init("Compression of deltas: fast, default, best, or 1 (fast) to 22 (small).", valueName: "level"))
  var deltaLevel: DeltaLevel?

  var options: Store.DeltaOptions { deltaLevel.map { .init(level: $0.level) } ?? .init() }
}

extension Progress {
  /// - Parameter storing: the activity for a pack's content.
  init(_ progress: Site.PublishProgress, storing: String = "copying") {
    switch progress {
    case .store(let pack, let progress): self.init(activity: "\(storing) \(pack)", progress)
    case .take(let pack, let byteCount, let total):
      self.init(activity: "copying \(pack)", bytesDone: byteCount, bytesTotal: total)
    case .describe(let byteCount, let total):
      self.init(activity: "describing", bytesDone: byteCount, bytesTotal: total)
    case .delta(_, let byteCount, let total):
      self.init(activity: "making deltas", bytesDone: byteCount, bytesTotal: total)
    case .commit, .prune, .offer, .signed: self.init(activity: "committing")
    }
  }
}
