#if Hosting
  import Crypto

  /// Computes the checksums of an upload while its parts are read in order.
  struct UploadDigest {
    private var md5 = Insecure.MD5()
    private var sha256 = SHA256()
    private var part = Insecure.MD5()
    private var composite = Insecure.MD5()
    private var partCount = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
      md5.update(bufferPointer: bytes)
      sha256.update(bufferPointer: bytes)
      part.update(bufferPointer: bytes)
    }

    mutating func endPart() {
      composite.update(data: Array(part.finalize()))
      part = Insecure.MD5()
      partCount += 1
    }

    mutating func addPart(_ bytes: [UInt8]) {
      bytes.withUnsafeBytes { update($0) }
      endPart()
    }

    /// Compares all checksums that the client sent; `nil` if all match.
    func fault(_ checksums: UploadChecksums?) -> StateDetail? {
      guard let checksums else { return nil }
      let file = md5.finalize().hex, whole = sha256.finalize().hex, parts = composite.finalize().hex
      let composites = [parts, "\(parts)-\(partCount)"] + (partCount == 1 ? [file] : [])
      let matches =
        (checksums.fileMD5.map { $0 == file } ?? true) && (checksums.fileSHA256.map { $0 == whole } ?? true)
        && (checksums.deprecatedMD5.map { $0 == file } ?? true)
        && (checksums.compositeMD5.map(composites.contains) ?? true)
      return matches
        ? nil
        : StateDetail(
          code: "CHECKSUM_MISMATCH", description: "The received bytes have another checksum than announced.")
    }
  }
#endif
