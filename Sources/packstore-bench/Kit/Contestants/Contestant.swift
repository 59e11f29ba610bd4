/// A method of storing assets: a store, a database, a file system image or an archive.
///
/// To add one, write a type that conforms to `Contestant`, and a class for its reader that conforms to ``AssetReader``.
/// Put both in the package `Benchmarks`, so that PackStore never depends on its peers, and add the type to `Peers.all`
/// there. ``PlainFiles`` is the shortest example.
///
/// Rules that keep the comparison honest:
///
/// - Between calls, a reader may only keep objects that the contestant's own users would keep: an open store, a handle, a
///   transaction. Each read begins with a path. The location of an asset must not be cached by path outside the store.
/// - The kit measures time outside the calls, and passes prepared paths. A call costs every contestant the same.
/// - Once per workload, the kit compares all read bytes with the source, outside the measured time.
protocol Contestant: Sendable {
  /// The contestant's name in reports, such as `LMDB` or `squashfs, zstd 128 KiB`. Unique among the participants.
  var name: String { get }

  /// The contestant's settings, in one line without paths: version, level, block size, mount options, and whether it compresses,
  /// checks and syncs. Readers of the report need to know which work was not done.
  var note: String { get }

  /// The reason why the contestant cannot take part on this machine, such as `mksquashfs is not installed`; otherwise `nil`. The
  /// report shows the reason. Any call may throw ``Unavailable`` if the reason is found later.
  var unavailability: String? { get }

  /// The calls that the contestant's reader supports. Workloads skip contestants without the required calls.
  var abilities: Abilities { get }

  /// The name of the prepared form, by default the contestant's name. Contestants with the same form share the prepared data, for
  /// example two interfaces to one store. `nil` if the form is the data set's own folder: then only the ingest workload calls
  /// `prepare`.
  var form: String? { get }

  /// Creates the contestant's form of a data set in the empty folder `workspace`. The ingest workload measures the time until this
  /// call returns and the file system has synced.
  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws

  /// Opens the result of `prepare`. It may be called any number of times, before earlier readers are closed, and from several
  /// threads, each with its own reader.
  ///
  /// - Parameter threadCount: the number of threads that the reader may use for one large read.
  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader

  /// Makes the system drop decoded assets, while the stored data stays in the page cache. Called before each first read.
  ///
  /// For contestants whose data the kernel decodes: otherwise their first read would use data decoded by an earlier read, and be as
  /// fast as plain files.
  func forgetDecoded(_ dataSet: DataSet, in workspace: String) throws

  /// Releases resources in the workspace, such as a mount, before the kit removes the folder.
  func release(_ workspace: String)
}

extension Contestant {
  var note: String { "" }
  var unavailability: String? { nil }
  var form: String? { name }
  func forgetDecoded(_ dataSet: DataSet, in workspace: String) throws {}
  func release(_ workspace: String) {}
}

/// The calls that a contestant's reader supports.
struct Abilities: OptionSet, Sendable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// ``AssetReader/read(_:into:)`` of small assets, if its settings make no difference to large ones.
  static let readSmall = Self(rawValue: 1 << 11)
  /// ``AssetReader/read(_:into:)``
  static let read: Self = [Self(rawValue: 1 << 0), .readSmall]
  /// ``AssetReader/read(_:at:into:)``
  static let readRange = Self(rawValue: 1 << 1)
  /// ``AssetReader/borrow(_:_:)``
  static let borrow = Self(rawValue: 1 << 2)
  /// ``AssetReader/withContents(_:_:)``
  static let contents = Self(rawValue: 1 << 3)
  /// ``AssetReader/lookUp(_:)``
  static let lookUp = Self(rawValue: 1 << 4)
  /// ``AssetReader/list(_:)``
  static let list = Self(rawValue: 1 << 5)
  /// ``AssetReader/scan(into:)``
  static let scan = Self(rawValue: 1 << 6)
  /// ``AssetReader/extract(to:)``
  static let extract = Self(rawValue: 1 << 7)
  /// The contestant's `prepare` does the work of storing, so that its time is meaningful.
  static let ingest = Self(rawValue: 1 << 8)
  /// Opening parses, maps or locks the contestant's own data, so that its time is meaningful.
  static let open = Self(rawValue: 1 << 9)
  /// The contestant is a ``SwappingContestant``, and no other contestant uses its interface for swaps.
  static let swap = Self(rawValue: 1 << 10)

  static let all: Self = [
    .read, .readRange, .borrow, .contents, .lookUp, .list, .scan, .extract, .ingest, .open, .swap,
  ]
}

/// The error if a contestant, or one of its calls, cannot take part on this machine. The report shows the reason.
struct Unavailable: Error, CustomStringConvertible {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  var description: String { reason }
}
