public import PackFormats
public import PackStore

extension Store {
  /// The options for building a delta. A higher level makes the delta smaller, but not slower to apply.
  public struct DeltaOptions: Hashable, Sendable {
    /// The product of the pack. Clients apply a delta only to a pack of the same product and key.
    public var product = Product.standard

    /// The level, 1 to 22, on zstd's scale.
    public var level: Int32 = Self.standardLevel

    public init(
      product: Store.Product = Product.standard, level: Int32 = Self.standardLevel
    ) {
      self.product = product
      self.level = level
    }

    /// The level for fast builds. Deltas are about a tenth larger.
    public static let fastLevel: Int32 = 9
    /// The default level. Deltas are smaller than the output of `zstd -19 --patch-from`, in less than a third of its time.
    public static let standardLevel: Int32 = 18
    /// The level for the smallest deltas.
    public static let bestLevel: Int32 = 22
  }
}

extension Store {
  /// The progress of building a delta.
  public struct DeltaProgress: Progress, Hashable {
    /// The number of processed bytes.
    public let byteCount: Int
    public let totalByteCount: Int

    public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }
  }
}

extension Store {
  /// The result of building a delta.
  public struct DeltaResult: Hashable, Codable, Sendable {
    public let info: DeltaFile.Info

    /// The root key of the signature; `nil` if unsigned.
    public let publicKey: SitePublicKey?

    /// The size of the file, including the signature.
    public let byteCount: Int
  }
}

extension Store {
  /// Writes a delta between two kept versions of a pack, for clients with the first version.
  ///
  /// While it is written, the file has another name with `.partial` in it; a crash may leave it. The complete file replaces an
  /// existing one. The delta depends only on the two versions, the level and libzstd's version. Temporary files are in the store's
  /// folder, if it is writable.
  ///
  /// - Parameters:
  ///   - key: the key that signs the delta; `nil` for an unsigned delta, whose source clients must trust.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` if the pack or a version does not exist; `CancellationError`; `invalidArgument`, `noSpace`, `ioError`,
  ///   `outOfMemory`, `corrupt`, `purged`.
  public func makeDelta(
    of pack: PackID, fromVersion: UInt64, toVersion: UInt64, file: FilePath, signedBy key: SiteKey? = nil,
    options: DeltaOptions = .init(), progress: (@Sendable (DeltaProgress) -> Void)? = nil
  ) async throws -> DeltaResult {
    try await BlockingExecutor.run {
      try requireName(file)
      // Checks the key before the work.
      try key?.requireValid(at: nanosecondsSince1970())
      _ = try key?.authority(for: options.product)
      let draft = FilePlace(draftPath(nextTo: file, ending: ".partial"))
      defer { try? removeFile(draft) }
      let output = try NewFile(draft)
      let info = try self.makeSnapshot().buildDelta(
        of: pack, from: fromVersion, to: toVersion, level: options.level,
        write: { offset, bytes in try output.write(bytes, at: offset) },
        progress: { progress?(DeltaProgress(byteCount: $0, totalByteCount: $1)) })
      let sequence = SiteRoot.nextSequence(after: nil, at: key?.signingTime ?? nanosecondsSince1970())
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
  /// A text such as `Tutorial@3 to 4 in 81920 bytes`.
  public var description: String { "\(info) in \(byteCount) bytes" }
}
