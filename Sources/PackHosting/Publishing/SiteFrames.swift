#if Hosting
  import Foundation
  import PackPublishing
  import PackFormats
  import PackStore

  /// Finds frames by their digests in the site of one app. Everyone who may read the app may read all versions of its site, so that
  /// an answer reveals nothing else.
  struct SiteFrames: Sendable {
    private struct Place: Sendable {
      let segment: String
      let offset: UInt64
      let byteCount: Int
    }

    private let site: FilePath
    private let places: [Digest256: Place]

    var digests: Set<Digest256> { Set(places.keys) }

    /// Searches the frame tables of a site. Tables that were deleted since then, or are damaged, are omitted. Runs on a thread that
    /// may block.
    ///
    /// - Throws: errors of reading.
    init(_ wanted: Set<Digest256>, in site: FilePath) throws {
      self.site = site
      var places: [Digest256: Place] = [:]
      let folder = site.appending("frames")
      for name in wanted.isEmpty ? [] : try namesInFolder(folder) {
        guard case .frames(let id) = SitePath("frames/\(name)"),
          let rows = try Self.unlessLost({
            try FrameRows(InputFile(name, in: folder).contents(limit: Self.tableByteCountLimit), file: name).rows
          })
        else { continue }
        let segment = "\(SitePath.segment(id))"
        for row in rows where wanted.contains(row.digest) {
          places[row.digest] = Place(segment: segment, offset: row.offset, byteCount: Int(row.byteCount))
        }
      }
      self.places = places
    }

    private static let tableByteCountLimit = 64 << 20

    /// Returns `nil` for a missing or damaged file. Other faults are faults of the machine: another attempt may succeed.
    private static func unlessLost<Value>(_ read: () throws -> Value) throws -> Value? {
      do { return try read() } catch let error as PackStoreError
        where ![.ioError, .outOfMemory, .busy].contains(error.code)
      { return nil }
    }

    /// Returns the bytes of a frame, compared with its digest; `nil` if the site lost them.
    ///
    /// - Throws: errors of reading.
    func bytes(_ digest: Digest256) throws -> [UInt8]? {
      guard let place = places[digest],
        let bytes = try Self.unlessLost({
          try InputFile(place.segment, in: site).bytes(at: place.offset, upTo: place.byteCount)
        }),
        bytes.count == place.byteCount, Digest256(hashing: bytes) == digest
      else { return nil }
      return bytes
    }
  }
#endif
