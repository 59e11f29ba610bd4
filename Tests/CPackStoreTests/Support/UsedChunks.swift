import CPackStore
import CPackStoreTesting

/// A chunk where it is stored.
struct StoredChunk: Hashable {
  var segment: [UInt8]
  var row: UInt32
  var isPage: Bool
  var id: [UInt8]

  init(_ chunk: used_chunk) {
    segment = withUnsafeBytes(of: chunk.segment, Array.init)
    row = chunk.row
    isPage = chunk.is_page
    id = withUnsafeBytes(of: chunk.id, Array.init)
  }
}

/// What a visitor of chunks fills.
private final class Chunks {
  var all: [StoredChunk] = []

  static let visit: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<used_chunk>?) -> Void = { context, chunk in
    Unmanaged<Chunks>.fromOpaque(context!).takeUnretainedValue().all.append(StoredChunk(chunk!.pointee))
  }
}

extension Snapshot {
  /// The chunks that a version needs, as the core says; all versions of all packs unless they are named.
  func usedChunks(
    pack: UInt32 = .max, version: UInt32 = .max, only: [UInt8]? = nil, rounds: UInt32 = 1
  ) throws -> (chunks: [StoredChunk], sums: used_sums) {
    let chunks = Chunks()
    var sums = used_sums()
    try attempt {
      used_chunks(
        &sums, raw, pack, version, only, rounds, Chunks.visit, Unmanaged.passUnretained(chunks).toOpaque(), $0)
    }
    return (chunks.all, sums)
  }

  /// The chunks that the simplest of walks reaches; of pages all copies.
  func reachedChunks(pack: UInt32 = .max, version: UInt32 = .max, records: Bool = true) throws -> Set<StoredChunk> {
    let chunks = Chunks()
    try attempt {
      reached_chunks(raw, pack, version, records, Chunks.visit, Unmanaged.passUnretained(chunks).toOpaque(), $0)
    }
    return Set(chunks.all)
  }
}
