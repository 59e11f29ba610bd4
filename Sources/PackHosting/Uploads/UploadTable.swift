#if Hosting
  import Foundation
  import PackStore

  /// The frames of an archive, as a client claims them: ranges with the SHA-256 of their bytes.
  struct UploadTable: Sendable {
    struct Frame: Hashable, Sendable {
      let offset: Int64
      let length: Int64
      let digest: Digest256

      var end: Int64 { offset + length }
    }

    /// In order of their offsets, without overlaps, within the file.
    let frames: [Frame]

    static let rowByteCount = 44
    static let rowLimit = 120_000
    static let frameLimit: Int64 = 64 << 20

    init(frames: [Frame] = []) { self.frames = frames }

    /// Reads base64url text of rows: offset and length as little-endian numbers of 8 and 4 bytes, and the digest.
    ///
    /// - Throws: `APIError` 409 for anything else.
    init(text: String, fileByteCount: Int64) throws {
      guard let bytes = Base64URL.decode(text), bytes.count.isMultiple(of: Self.rowByteCount),
        bytes.count / Self.rowByteCount <= Self.rowLimit
      else { throw Self.fault("not base64url text of at most \(Self.rowLimit) rows of \(Self.rowByteCount) bytes") }
      var frames: [Frame] = [], end: Int64 = 0
      for begin in stride(from: 0, to: bytes.count, by: Self.rowByteCount) {
        let row = bytes[begin..<(begin + Self.rowByteCount)]
        let frame = row.withUnsafeBytes { row in
          Frame(
            offset: Int64(littleEndian: row.loadUnaligned(as: Int64.self)),
            length: Int64(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 8, as: UInt32.self))),
            digest: Digest256(copying: UnsafeRawBufferPointer(rebasing: row[12...])))
        }
        guard frame.offset >= end, (1...Self.frameLimit).contains(frame.length),
          frame.length <= fileByteCount, frame.offset <= fileByteCount - frame.length
        else { throw Self.fault("row \(begin / Self.rowByteCount): not after the row before, or not within the file") }
        frames.append(frame)
        end = frame.end
      }
      self.frames = frames
    }

    private static func fault(_ detail: String) -> APIError { .attributeInvalid("frames", detail) }
  }

  /// The ranges of a file, and how the host gets each.
  struct UploadPlan: Sendable {
    struct Piece: Hashable, Sendable {
      let offset: Int64
      let length: Int64

      /// The frames that the host copies, which fill the range; empty for a range that the client sends.
      var frames: [UploadTable.Frame] = []
    }

    let pieces: [Piece]

    /// Shorter runs of present frames are sent all the same: a request costs more than their bytes.
    static let leastRun: Int64 = 64 << 10
    static let runLimit = 4000

    /// - Parameters:
    ///   - byteCount: the size of the file, at least 1.
    ///   - present: the digests of frames that the host can copy.
    init(_ byteCount: Int64, _ table: UploadTable = .init(), present: Set<Digest256> = []) {
      var runs: [[UploadTable.Frame]] = []
      for frame in table.frames where present.contains(frame.digest) {
        if runs.last?.last?.end == frame.offset { runs[runs.count - 1].append(frame) } else { runs.append([frame]) }
      }
      var least = Self.leastRun
      runs.removeAll { Self.length($0) < least }
      while runs.count > Self.runLimit {
        least *= 2
        runs.removeAll { Self.length($0) < least }
      }
      var pieces: [Piece] = [], end: Int64 = 0
      for run in runs {
        guard let first = run.first else { continue }
        pieces += Self.sent(end, first.offset)
        pieces.append(Piece(offset: first.offset, length: Self.length(run), frames: run))
        end = first.offset + Self.length(run)
      }
      self.pieces = pieces + Self.sent(end, byteCount)
    }

    private static func length(_ run: [UploadTable.Frame]) -> Int64 { run.reduce(0) { $0 + $1.length } }

    private static func sent(_ begin: Int64, _ end: Int64) -> [Piece] {
      guard begin < end else { return [] }
      return PartPlan.parts(of: end - begin).map { Piece(offset: begin + $0.offset, length: $0.length) }
    }
  }

  extension UploadPlan.Piece {
    private static let rowByteCount = 4 + Digest256.byteCount

    /// The frames as a part records them; `nil` for a range that the client sends.
    var record: Data? {
      guard !frames.isEmpty else { return nil }
      var bytes: [UInt8] = []
      for frame in frames {
        withUnsafeBytes(of: UInt32(clamping: frame.length).littleEndian) { bytes += $0 }
        bytes += frame.digest.bytes
      }
      return Data(bytes)
    }

    /// Reads the digests of a part's frames.
    static func digests(of record: Data) -> [Digest256] {
      let bytes = [UInt8](record)
      return stride(from: 0, through: bytes.count - rowByteCount, by: rowByteCount).map { begin in
        bytes[(begin + 4)..<(begin + rowByteCount)].withUnsafeBytes { Digest256(copying: $0) }
      }
    }
  }
#endif
