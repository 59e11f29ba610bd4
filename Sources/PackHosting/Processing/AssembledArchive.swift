#if Hosting
  import Foundation
  import PackStore

  /// Joins the parts of an upload into one file, and computes its checksums.
  enum AssembledArchive {
    private static let pieceByteCount = 1 << 20

    /// - Parameter site: the site that has the frames of parts which the client did not send.
    /// - Returns: the digest of all parts in order.
    /// - Throws: errors of reading and writing; ``ContentLost`` if the site lost a frame; `ioError` if a part has another length
    ///   than recorded.
    static func write(
      _ parts: [UploadPartRecord], from folder: UploadFolder, _ site: FilePath, to file: FilePath
    ) throws -> UploadDigest {
      let copied = parts.compactMap(\.frames).flatMap { UploadPlan.Piece.digests(of: $0) }
      let frames = try SiteFrames(Set(copied), in: site)
      let output = try NewFile(FilePlace(file), isSecret: true)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 16)
      defer { buffer.deallocate() }
      var digest = UploadDigest()
      for part in parts {
        if let record = part.frames {
          try copy(UploadPlan.Piece.digests(of: record), of: part, from: frames, to: output, &digest)
        } else {
          try copy(part, from: folder, to: output, by: buffer, &digest)
        }
        digest.endPart()
      }
      return digest
    }

    private static func copy(
      _ digests: [Digest256], of part: UploadPartRecord, from frames: SiteFrames, to output: NewFile,
      _ digest: inout UploadDigest
    ) throws {
      var byteCount: Int64 = 0
      for id in digests {
        try Task.checkCancellation()
        // The lengths in the table are claims: without this check, short rows would make the host write more than was reserved.
        guard let bytes = try frames.bytes(id), Int64(bytes.count) <= part.length - byteCount else {
          throw ContentLost()
        }
        try bytes.withUnsafeBytes {
          digest.update($0)
          try output.write($0)
        }
        byteCount += Int64(bytes.count)
      }
      guard byteCount == part.length else { throw ContentLost() }
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

  /// The site lost content that it had when the upload was reserved, or the table of the upload was wrong.
  struct ContentLost: Error {}
#endif
