/// A way of storing assets that takes part in the benchmark: a store, a database, a file system image, an archive.
///
/// To add one, write a type for it that conforms to `Contestant`, and a class for its reader that conforms to
/// ``AssetReader``, in the package `Benchmarks`, so that PackStore never depends on its peers; and name it in `Peers.all`
/// there. ``PlainFiles`` is the shortest example.
///
/// What keeps the comparison honest:
///
/// - Nothing may be remembered between calls but what the contestant's own users would keep: an open store, a handle, a
///   transaction. Each read begins at a path. Where an asset lies may not be kept by path outside of the store.
/// - The kit times from outside, and hands out paths that are spelled already. A call costs every contestant the same.
/// - Bytes that are read are compared with the source once per workload, outside of the timing.
protocol Contestant: Sendable {
  /// As it appears in reports: `LMDB`, `squashfs, zstd 128 KiB`. Unique among those that take part.
  var name: String { get }

  /// How it is set up, in one line without paths: version, level, block size, how it is mounted,
  /// whether it compresses, checks and syncs: a reader of the comparison must know what was not done.
  var note: String { get }

  /// Why it cannot take part on this machine (`mksquashfs is not installed`), or nil. It is then left out, and the
  /// report says why. What turns out later may be thrown as ``Unavailable`` instead, by any call.
  var unavailability: String? { get }

  /// What its reader can be asked. Workloads leave out who lacks what they need.
  var abilities: Abilities { get }

  /// Contestants with the same form share what the first of them prepares: two interfaces to one store, for instance.
  /// By default its name. Nil: the data set's own folder is the form, and `prepare` is for the ingest workload alone.
  var form: String? { get }

  /// Makes its form of a data set inside the empty folder `workspace`. This is what the ingest workload times: until it
  /// returns, and until the file system has synced as well.
  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws

  /// Opens what `prepare` made. Called any number of times, also before earlier readers are closed, and from several
  /// threads, each of which uses its own reader.
  ///
  /// - Parameter threadCount: how many threads the reader may use for one large read.
  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader

  /// Makes the system forget the assets that it keeps decoded, while what is stored stays in the page cache: called
  /// before what a report calls a first read. For those whose decoding is the kernel's, who would be timed as plain
  /// files from the second read on.
  func forgetDecoded(_ dataSet: DataSet, in workspace: String) throws

  /// Releases what holds on to the workspace, a mount for instance, before the kit removes the folder.
  func release(_ workspace: String)
}

extension Contestant {
  var note: String { "" }
  var unavailability: String? { nil }
  var form: String? { name }
  func forgetDecoded(_ dataSet: DataSet, in workspace: String) throws {}
  func release(_ workspace: String) {}
}

/// What a contestant's reader can be asked.
struct Abilities: OptionSet, Sendable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// ``AssetReader/read(_:into:)`` of small assets, where what it is set up for makes no difference to large ones.
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
  /// Its `prepare` does the work that storing takes, so that timing it means something.
  static let ingest = Self(rawValue: 1 << 8)
  /// Opening parses, maps or locks something of its own, so that timing it means something.
  static let open = Self(rawValue: 1 << 9)
  /// It is a ``SwappingContestant``, and what it swaps through is no other contestant's.
  static let swap = Self(rawValue: 1 << 10)

  static let all: Self = [
    .read, .readRange, .borrow, .contents, .lookUp, .list, .scan, .extract, .ingest, .open, .swap,
  ]
}

/// A contestant, or one of its calls, cannot take part here. The report shows the reason.
struct Unavailable: Error, CustomStringConvertible {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  var description: String { reason }
}
