public import PackFormats
public import PackStore

extension Store {
  /// How much work goes into a delta: more makes it smaller, and applying it no slower.
  public struct DeltaOptions: Hashable, Sendable {
    /// What the pack belongs to. Clients apply a delta to a pack of the same product and key alone.
    public var product = Product.standard

    /// 1 to 22, on the scale of zstd.
    public var level: Int32 = Self.standardLevel

    public init(
      product: Store.Product = Product.standard, level: Int32 = Self.standardLevel
    ) {
      self.product = product
      self.level = level
    }

    /// Quick to build, about a tenth larger.
    public static let fastLevel: Int32 = 9
    /// Smaller than what `zstd -19 --patch-from` makes, in less than a third of its time.
    public static let standardLevel: Int32 = 18
    /// As small as can be.
    public static let bestLevel: Int32 = 22
  }
}

extension Store {
  /// How far a delta is.
  public struct DeltaProgress: Progress, Hashable {
    /// Bytes that were worked on.
    public let byteCount: Int
    public let totalByteCount: Int

    public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }
  }
}

extension Store {
  /// What became a delta.
  public struct DeltaResult: Hashable, Codable, Sendable {
    public let info: DeltaFile.Info

    /// Who signed it.
    public let publicKey: SitePublicKey?

    /// Of the file, its signature included.
    public let byteCount: Int
  }
}

extension Store {
  /// Writes a delta between two kept versions of a pack: one file that turns the one into the other, for a client that has
  /// the first.
  ///
  /// While it is made it has another name, with `.partial` in it; a crash may leave that. The file comes last, whole,
  /// and takes the place of one that is there. A delta is a function of the two versions, of the level and of libzstd's
  /// version. Temporary files lie in the store's folder, where that may be written to.
  ///
  /// - Parameters:
  ///   - key: signs it; nil: it stays unsigned, and a client that applies it must trust the way it came.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` when there is no such pack or version; `CancellationError`; `invalidArgument`, `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`, `purged`.
  public func makeDelta(
    of pack: PackID, fromVersion: UInt64, toVersion: UInt64, file: FilePath, signedBy key: SiteKey? = nil,
    options: DeltaOptions = .init(), progress: (@Sendable (DeltaProgress) -> Void)? = nil
  ) async throws -> DeltaResult {
    try await BlockingExecutor.run {
      try requireName(file)
      // What the key may not sign is not worth the work.
      try key?.requireValid(at: nanosecondsSince1970())
      _ = try key?.authority(for: options.product)
      let draft = FilePlace(FilePath("\(file).\(UInt64.random(in: 0 ... .max)).partial"))
      defer { try? removeFile(draft) }
      let output = try NewFile(draft)
      let info = try self.makeSnapshot().buildDelta(
        of: pack, from: fromVersion, to: toVersion, level: options.level,
        write: { offset, bytes in try output.write(bytes, at: offset) },
        progress: { progress?(DeltaProgress(byteCount: $0, totalByteCount: $1)) })
      let sequence = SiteRoot.nextSequence(after: nil, at: nanosecondsSince1970())
      let signature =
        try key.map { key in
          try DeltaSignature(of: info.headerDigest, by: key, product: options.product, sequence: sequence).bytes
        } ?? []
      try signature.span.bytes.withUnsafeBytes { bytes in
        try output.write(bytes, at: UInt64(info.byteCount))
      }
      try output.sync()
      try renameFile(draft, to: FilePlace(file))
      try syncFolder(file.removingLastComponent())
      return DeltaResult(info: info, publicKey: key?.rootKey, byteCount: info.byteCount + signature.count)
    }
  }
}

extension Store.DeltaResult: CustomStringConvertible {
  /// `Tutorial@3 to 4 in 81920 bytes`.
  public var description: String { "\(info) in \(byteCount) bytes" }
}
