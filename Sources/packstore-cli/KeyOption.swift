import ArgumentParser
import PackAuthoring
import PackStore

/// The key that a publisher signs with.
struct KeyOption: ParsableArguments {
  @Option(
    help: .init(
      "The file with the secret key, made on first use with its root key (default: ~/.config/packstore/site.key).",
      valueName: "file"),
    completion: .file())
  var key: String?

  /// What becomes of a key file that is missing.
  enum MissingFile {
    /// A key is made.
    case make
    /// A key is made where the file was not named: a name that is misspelt makes none.
    case makeUnlessNamed
    /// A new key would be of no use, for there is a site or an archive that another one has signed.
    case refuse(signed: String)
  }

  /// Reads the key, or makes one and its root key, and says so: who loses the root key cannot publish to the same clients
  /// again.
  ///
  /// - Parameter product: for which the key is to sign, where that was said.
  func open(for product: Store.Product? = nil, quiet: Bool, missing: MissingFile = .make) throws -> SiteKey {
    let file = try keyFile(key)
    if !pathExists(file) { try allowMaking(file, missing) }
    let (key, made) = try SiteKey.readOrMakeRelease(file, options: .init(product: product))
    if let product, let delegation = key.delegation, delegation.product != product {
      throw otherProduct(product, delegation, file)
    }
    if let made, !quiet { warn(Self.description(of: made, in: file)) }
    if let end = key.endsAt, !quiet, end > .now, end.timeIntervalSinceNow < Self.warningTime {
      warn("the key may sign until \(formatDate(end)): run 'packstore delegate' with the root key before that")
    }
    return key
  }

  /// What was made, and what its owner does next.
  private static func description(of made: SiteKey.DelegationResult, in file: FilePath) -> String {
    let names = (release: escaped(file.string), root: escaped(SiteKey.rootFile(beside: file).string))
    let end = made.endsAt.map { " signs until \(formatDate($0))" } ?? " signs without end"
    return
      "made a release key in '\(names.release)' and its root key in '\(names.root)': move the root key to a safe place"
      + " off this machine; clients trust \(made.rootKey), and the release key\(end)"
  }

  /// A release key is for one product: each has a key of its own, by the same root key.
  private func otherProduct(_ product: Store.Product, _ delegation: KeyDelegation, _ file: FilePath) -> Failure {
    let beside = SiteKey.rootFile(beside: file)
    let root = pathExists(beside) ? beside : "ROOT.key"
    let new = file.removingLastComponent().appending("\(product).key")
    return Failure(
      .untrusted,
      "the key '\(escaped(file.string))' is for the product '\(delegation.product)', and not for '\(product)'",
      remedy:
        "make one for it with 'packstore delegate \(escaped(root.string)) \(escaped(new.string)) --product \(product)',"
        + " and name that with --key", path: file.string)
  }

  private func allowMaking(_ file: FilePath, _ missing: MissingFile) throws {
    let name = escaped(file.string)
    switch missing {
    case .make: break
    case .makeUnlessNamed where key == nil: break
    case .makeUnlessNamed:
      throw Failure(
        .noKey, "there is no key '\(name)'",
        remedy: "name one that is there, or make it with 'packstore keygen \(name)'",
        path: file.string)
    case .refuse(let signed):
      throw Failure(
        .noKey, "there is no key '\(name)', and \(signed) is signed already",
        remedy: "name the key that signed it with --key", path: file.string)
    }
  }

  /// How long before its end a key is warned of: 30 days.
  private static let warningTime: TimeInterval = 30 * 86_400
}

/// The file that was named, or where the key lies by default.
func keyFile(_ name: String?) throws -> FilePath {
  if let name { return FilePath(name) }
  guard let file = SiteKey.defaultFile(environment: ProcessInfo.processInfo.environment) else {
    throw Failure(.failed, "there is no HOME to keep a key in", remedy: "name a file for the key")
  }
  return file
}

/// What packs belong to.
struct ProductOption: ParsableArguments {
  @Option(
    help: .init(
      "The product that the packs belong to: clients take them from the same key and product alone (default: 'default').",
      valueName: "name"), transform: parseProduct)
  var product: Store.Product?
}

@Sendable private func parseProduct(_ name: String) throws -> Store.Product {
  do { return try Store.Product(name) } catch let error as PackStoreError {
    throw ValidationError(error.reason)
  }
}

/// For how long clients believe a root.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: .init(
      "Days after which clients refuse the site unless it was published or refreshed; kept for later publications.",
      valueName: "days"))
  var expires: Int?

  @Flag(help: "The site does not expire any more.")
  var noExpires = false

  func validate() throws {
    guard (1...36_500).contains(expires ?? 1) else { throw ValidationError("--expires goes from 1 to 36500 days") }
    guard expires == nil || !noExpires else { throw ValidationError("--expires and --no-expires exclude each other") }
  }

  var expiry: Site.PublishOptions.Expiry {
    if let expires { return .after(.seconds(expires * 86_400)) }
    return noExpires ? .never : .asBefore
  }
}

/// How what is published is encoded.
struct EncodingOptions: ParsableArguments {
  @Option(help: .init("Compression, from 1 (fast) to 22 (small).", valueName: "n"))
  var level: Int32 = 12

  @Option(help: "How apps will read the assets: at random, or from front to back, which stores them smaller.")
  var layout: Store.InstallOptions.Layout = .random

  func validate() throws {
    guard (1...22).contains(level) else { throw ValidationError("--level goes from 1 to 22, not \(level)") }
  }

  var publishOptions: Site.PublishOptions {
    .init(level: level, layout: layout)
  }
}

extension Progress {
  /// - Parameter storing: what is done with a pack's content.
  init(_ progress: Site.PublishProgress, storing: String = "copying") {
    switch progress {
    case .store(let pack, let progress): self.init(activity: "\(storing) \(pack)", progress)
    case .describe(let byteCount, let total):
      self.init(activity: "describing", bytesDone: byteCount, bytesTotal: total)
    case .delta(let pack, let byteCount, let total):
      self.init(activity: "comparing \(pack)", bytesDone: byteCount, bytesTotal: total)
    case .commit: self.init(activity: "committing")
    }
  }
}
