#if Hosting
  import Foundation
  import PackStore

  /// Joins the parts of an upload into one file, and computes its checksums.
  enum AssembledArchive {
    private static let pieceByteCount = 1 << 20

    /// - Returns: the digest of all parts in order.
    /// - Throws: errors of reading and writing; `corrupt` if a part has another length than recorded.
    static func write(
      _ parts: [UploadPartRecord], from folder: UploadFolder, to file: FilePath
    ) throws -> UploadDigest {
      let output = try NewFile(FilePlace(file), isSecret: true)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 16)
      defer { buffer.deallocate() }
      var digest = UploadDigest()
      for part in parts {
        try copy(part, from: folder, to: output, by: buffer, &digest)
        digest.endPart()
      }
      return digest
    }

    private static func copy(
      _ part: UploadPartRecord, from folder: UploadFolder, to output: NewFile, by buffer: UnsafeMutableRawBufferPointer,
      _ digest: inout UploadDigest
    ) throws {
      let input = try InputFile(folder.file(part.storedName ?? "missing"))
      var offset: UInt64 = 0
      while true {
        try Task.checkCancellation()
        let count = try input.read(at: offset, into: buffer)
        guard count > 0 else { break }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        digest.update(bytes)
        try output.write(bytes)
        offset += UInt64(count)
      }
      guard offset == UInt64(clamping: part.length) else {
        throw PackStoreError(.ioError, "part \(part.number) has \(offset) bytes instead of \(part.length)")
      }
    }
  }
#endif
