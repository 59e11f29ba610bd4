/// A contestant's form of a data set, opened for reading by one thread at a time.
///
/// A reader implements what its contestant's ``Abilities`` promise; the others throw. Paths live as long as the data
/// set, so they may be kept; see ``AssetPath``.
protocol AssetReader: AnyObject {
  /// Reads a whole asset to the beginning of `memory`, which has room for it.
  ///
  /// - Returns: the asset's length.
  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int

  /// Reads the bytes of an asset from `offset` on, as many as `memory` has room for. The asset has them all.
  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws

  /// Lends a whole asset without a copy: mapped memory, whose pages may be touched for the first time by `body`.
  /// Throws ``Unavailable`` for an asset that cannot be lent, because it is compressed for instance.
  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

  /// Lends a whole asset in memory that the contestant provides, by whatever its users would call for that.
  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

  /// Finds each of the assets and its length, and reads nothing. One call is timed as a whole, since a look-up may take
  /// less time than asking for the time does.
  ///
  /// - Returns: the sum of the lengths.
  func lookUp(_ paths: AssetPaths) throws -> Int

  /// Lists what lies directly in a folder: names, kinds and lengths of files.
  ///
  /// - Returns: the number of entries.
  func list(_ folder: AssetPath) throws -> Int

  /// Reads every asset whole, in the order that suits the contestant best, each to the beginning of `memory`.
  ///
  /// - Returns: the sum of the lengths.
  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int

  /// Writes every asset to a file below the empty folder `target`, not synced.
  func extract(to target: String) throws

  /// Gives everything back. Nothing is called afterwards.
  func close()
}

extension AssetReader {
  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int { throw Self.missing() }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    throw Self.missing()
  }

  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws { throw Self.missing() }

  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    throw Self.missing()
  }

  func lookUp(_ paths: AssetPaths) throws -> Int { throw Self.missing() }

  func list(_ folder: AssetPath) throws -> Int { throw Self.missing() }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int { throw Self.missing() }

  func extract(to target: String) throws { throw Self.missing() }

  private static func missing(_ call: String = #function) -> Unavailable { Unavailable("\(Self.self) cannot \(call)") }
}
