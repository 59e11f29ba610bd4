import CPackStore

/// A segment that a version needs, as a publisher sees it.
struct PublishedSegment: Equatable {
  var id: [UInt8]
  var isMetadata: Bool
  var length: UInt64
}

extension Snapshot {
  /// Takes what a callback is given, and ends when there is enough.
  private final class Sink<Element> {
    var taken: [Element] = []
    var calls = 0
    let limit: Int
    init(_ limit: Int) { self.limit = limit }
    func goesOn() -> Bool {
      calls += 1
      return calls < limit
    }
  }

  func segments(of pack: UInt32, version: UInt64, stopAfter limit: Int = .max) throws -> [PublishedSegment] {
    let sink = Sink<PublishedSegment>(limit)
    try attempt {
      pks_snapshot_visit_segments(
        raw, pack, version,
        { context, id, isMetadata, length in
          let sink = Unmanaged<Sink<PublishedSegment>>.fromOpaque(context!).takeUnretainedValue()
          sink.taken.append(
            PublishedSegment(
              id: Array(UnsafeBufferPointer(start: id, count: 16)), isMetadata: isMetadata, length: length))
          return sink.goesOn()
        }, Unmanaged.passUnretained(sink).toOpaque(), $0)
    }
    return sink.taken
  }

  /// Names of all segments that kept versions need.
  func neededSegments() throws -> Set<String> {
    var names: Set<String> = []
    for (index, pack) in (packs + removedPacks).enumerated() {
      for number in 0..<pack.version_count {
        let version = pks_snapshot_version(raw, UInt32(index), number).number
        names.formUnion(try segments(of: UInt32(index), version: version).map { hex($0.id) })
      }
    }
    return names
  }

  /// The change list of pack `pack` from one kept version to another.
  func listChanges(of pack: UInt32 = 0, from: UInt64, to: UInt64, stopAfter limit: Int = .max) throws -> [UInt8] {
    try listChanges(of: pack, from: [from], to: to, stopAfter: limit)[0].get()
  }

  /// Those from several versions, by one lister.
  func listChanges(
    of pack: UInt32 = 0, from: [UInt64], to: UInt64, stopAfter limit: Int = .max
  ) throws -> [Result<[UInt8], any Error>] {
    var lister: OpaquePointer?
    try attempt { pks_change_lister_open(&lister, raw, pack, to, $0) }
    defer { pks_change_lister_close(lister) }
    let opened = lister!
    return from.map { from in
      Result { try written(stopAfter: limit) { pks_change_lister_list(opened, from, $0, $1, $2) } }
    }
  }

  func frameTable(of id: [UInt8], stopAfter limit: Int = .max) throws -> [UInt8] {
    try written(stopAfter: limit) { pks_snapshot_frame_table(raw, id, $0, $1, $2) }
  }

  private typealias Write = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int) -> Bool

  /// What a function hands to its `write`, which goes on until `limit` bytes have come.
  private func written(
    stopAfter limit: Int, _ body: (Write, UnsafeMutableRawPointer?, UnsafeMutablePointer<pks_error>?) -> pks_status
  ) throws -> [UInt8] {
    let sink = Sink<UInt8>(limit)
    try attempt { error in
      body(
        { context, bytes, count in
          let sink = Unmanaged<Sink<UInt8>>.fromOpaque(context!).takeUnretainedValue()
          sink.taken += UnsafeRawBufferPointer(start: bytes, count: count)
          return sink.goesOn()
        }, Unmanaged.passUnretained(sink).toOpaque(), error)
    }
    return sink.taken
  }
}
