/// A contestant's form of a data set, opened for reading by one thread at a time.
///
/// A reader implements the calls in its contestant's ``Abilities``; the other calls throw. Paths are valid while the data set
/// exists, so a reader may keep them; see ``AssetPath``.
protocol AssetReader: AnyObject {
  /// Reads a whole asset to the beginning of `memory`, which has room for it.
  ///
  /// - Returns: the asset's length.
  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int

  /// Fills `memory` with bytes of an asset, from `offset` on. The asset has enough bytes.
  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws

  /// Borrows a complete asset without a copy: mapped memory, whose pages `body` may be the first to touch. Throws
  /// ``Unavailable`` if an asset cannot be borrowed, for example because it is compressed.
  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

  /// Provides a complete asset in memory of the contestant, by the call that the contestant's users would choose.
  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

  /// Finds each asset and its length, without reading the asset. A call looks up many paths, because one look-up may take less time
  /// than reading the clock.
  ///
  /// - Returns: the sum of the lengths.
  func lookUp(_ paths: AssetPaths) throws -> Int

  /// Lists the direct entries of a folder: names, kinds and lengths of files.
  ///
  /// - Returns: the number of entries.
  func list(_ folder: AssetPath) throws -> Int

  /// Reads every asset completely, in the contestant's best order, each to the beginning of `memory`.
  ///
  /// - Returns: the sum of the lengths.
  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int

  /// Writes every asset to a file below the empty folder `target`, not synced.
  func extract(to target: String) throws

  /// Releases all resources. The reader is not used afterwards.
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
