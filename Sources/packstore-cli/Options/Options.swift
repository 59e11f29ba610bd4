/// Arguments and options that several commands share.

import ArgumentParser
import PackDelivery
import PackStore

struct StoreArgument: ParsableArguments, StoreOperand {
  @Argument(help: "The store's folder.", completion: .directory)
  var store: String

  @OptionGroup var baseOption: BaseOption
}

/// The operand of commands that accept a store or a site.
struct StoreOrSiteArgument: ParsableArguments, StoreOperand {
  @Argument(help: "The store's folder, or a site: a folder or s3://bucket/prefix.", completion: .directory)
  var store: String

  @OptionGroup var baseOption: BaseOption
}

/// The operand of `verify`.
struct VerifiedArgument: ParsableArguments, StoreOperand {
  @Argument(
    help: "The store's folder, a site's folder, an http: or https: URL, or s3://bucket/prefix.", completion: .directory)
  var store: String

  @OptionGroup var baseOption: BaseOption
}

struct BaseOption: ParsableArguments {
  @Option(
    help: .init(
      "Base store, which is only read; its chunks are not stored again.", valueName: "folder"),
    completion: .directory)
  var base: String?

  func validate() throws {
    guard base?.isEmpty != true else { throw ValidationError("--base needs a folder") }
  }
}

/// An operand that names a store.
protocol StoreOperand {
  var store: String { get }
  var baseOption: BaseOption { get }
}

extension StoreOperand {
  var base: String? { baseOption.base }

  /// Opens the store for reading only: nothing in the folder changes. Prints warnings about the store.
  func openForReading() throws -> Store { try openChecked(.readOnly) }

  /// Opens the store with the given options, and prints warnings about it.
  func openChecked(_ options: Store.Options) throws -> Store { try checked(open(options)) }

  /// Opens the store, on top of its base if `--base` is set. A store that may be written also adopts the packs of its base.
  func open(_ options: Store.Options) throws -> Store {
    guard !store.contains("://") else {
      throw Failure(
        .invalidArgument, "'\(escaped(withoutSecrets(store)))': a URL, but this command reads only stores",
        remedy: "pull it into a store; 'ls', 'stat', 'log', 'diff' and 'inspect' read it there")
    }
    guard let base else { return try Store(at: FilePath(store), options: options) }
    return try Store(at: FilePath(store), base: FilePath(base), options: options)
  }
}

/// Opens a store. Warns if a damaged CONTROL may hide the newest commit: reads continue, and the store refuses commits.
func openStore(at path: String, options: Store.Options) throws -> Store {
  try checked(Store(at: FilePath(path), options: options))
}

/// Returns the store. Warns if it may not show its newest commit, or if it may lose files while the command reads it.
private func checked(_ store: Store) throws -> Store {
  let path = store.path.string
  if store.lacksLocks {
    warn(
      .noLocks,
      "\(escaped(path)): the file system has no locks: a collection by another process may delete files that this"
        + " command reads")
  }
  do {
    try store.checkControl()
  } catch let error as PackStoreError where error.code == .corrupt {
    warn(
      .damagedControl,
      "\(escaped(path)): CONTROL is damaged and may hide a newer commit; run"
        + " 'packstore repair \(escaped(path))'")
  }
  return store
}

struct QuietOption: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print only results and errors: no progress, summaries or warnings.")
  var quiet = false
}

struct ReportOptions: ParsableArguments {
  @Flag(help: "Print JSON, with sizes in bytes and dates in UTC.")
  var json = false

  @Option(
    help: .init(
      "How to report progress on standard error: text, json (one object per line) or none (default: text, none with --json).",
      valueName: "form"))
  var progress: ProgressForm?

  @OptionGroup var quietOption: QuietOption

  /// How progress is reported.
  var progressForm: ProgressForm { progress ?? (isTalkative ? .text : .none) }

  var quiet: Bool { quietOption.quiet }

  /// Whether to print texts for people, such as summaries and progress.
  var isTalkative: Bool { !json && !quiet }
}

struct WaitOption: ParsableArguments {
  @Flag(help: "Fail immediately if another process is writing to the store (default: wait).")
  var noWait = false

  /// The options for a command that may create the store.
  var storeOptions: Store.Options {
    var options = Store.Options.createIfMissing
    options.waitsForWriters = !noWait
    return options
  }
}

/// Options for deleting unused data at a commit.
struct CollectionOptions: ParsableArguments {
  @Flag(help: .keepsGeneration)
  var keepGeneration = false

  @Option(
    help: .collectionPercent)
  var gc = 25

  func validate() throws {
    guard (0...100).contains(gc) else { throw ValidationError("--gc must be from 0 to 100, not \(gc)") }
  }

  func apply(to options: Transaction.Options) -> Transaction.Options {
    var options = options
    options.keepsGeneration = keepGeneration
    options.collectionPercent = gc
    options.cacheFolder = userCacheFolder
    return options
  }

  func apply(to options: Store.PullOptions) -> Store.PullOptions {
    var options = options
    options.keepsGeneration = keepGeneration
    options.collectionPercent = gc
    options.cacheFolder = userCacheFolder
    return options
  }
}

/// The user's cache folder, for a purgeable pack in a store that has no cache folder yet; `nil` if the user has none.
var userCacheFolder: Store.CacheFolder? {
  (try? Store.Cache.standardFolder(named: "packstore")).map { Store.CacheFolder(path: $0) }
}

struct PackOption: ParsableArguments {
  @Option(
    help: .init("The only pack to read (default: all packs, merged).", valueName: "id"), transform: parsePackID)
  var pack: PackID?
}

/// Parses a pack's name.
@Sendable func parsePackID(_ name: String) throws -> PackID {
  if let sign = name.firstIndex(of: "@") {
    throw ValidationError(
      "'\(escaped(name))' is a version, but a pack is required; write '\(escaped(String(name[..<sign])))'")
  }
  return try parsePackName(name)
}

func parsePackName(_ name: some StringProtocol) throws -> PackID {
  do {
    return try PackID(validating: String(name))
  } catch {
    throw ValidationError(
      "a pack's name has 1 to 128 letters, digits, '-', '_' and '.', and begins with neither '-' nor '.'")
  }
}

/// Normalizes a path in a store as the user wrote it: removes slashes at the end, and returns an empty path for `.`.
func normalizedPath(_ path: String) -> String {
  var path = path[...]
  while path.hasSuffix("/"), path.count > 1 { path.removeLast() }
  return path == "." ? "" : String(path)
}

/// Parses a channel's name.
@Sendable func parseChannel(_ name: String) throws -> SiteChannel { try parse { try SiteChannel(name) } }

/// Parses a language tag.
@Sendable func parseLanguage(_ tag: String) throws -> LanguageTag { try parse { try LanguageTag(tag) } }

/// Parses a value of the command line. Converts the library's error into a usage error.
func parse<Value>(_ read: () throws -> Value) throws -> Value {
  do { return try read() } catch let error as PackStoreError {
    throw ValidationError(error.remedy.map { "\(error.reason); \($0)" } ?? error.reason)
  }
}
