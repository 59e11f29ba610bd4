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
    init(_ wanted: Set<Digest256>, in site: FilePath) throws {
      self.site = site
      var places: [Digest256: Place] = [:]
      let folder = site.appending("frames")
      for name in wanted.isEmpty ? [] : try namesInFolder(folder) {
        guard case .frames(let id) = SitePath("frames/\(name)"),
          let bytes = try? InputFile(name, in: folder).contents(limit: Self.tableByteCountLimit),
          let rows = try? FrameRows(bytes, file: name).rows
        else { continue }
        let segment = "\(SitePath.segment(id))"
        for row in rows where wanted.contains(row.digest) {
          places[row.digest] = Place(segment: segment, offset: row.offset, byteCount: Int(row.byteCount))
        }
      }
      self.places = places
    }

    private static let tableByteCountLimit = 64 << 20

    /// Returns the bytes of a frame, compared with its digest; `nil` if the site lost them.
    func bytes(_ digest: Digest256) -> [UInt8]? {
      guard let place = places[digest],
        let bytes = try? InputFile(place.segment, in: site).bytes(at: place.offset, upTo: place.byteCount),
        bytes.count == place.byteCount, Digest256(hashing: bytes) == digest
      else { return nil }
      return bytes
    }
  }
#endif
