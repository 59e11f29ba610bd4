import CPackStore
import CPackStoreTesting
import Testing

/// What a delivery asks for.
struct Want: Hashable, CustomStringConvertible, Sendable {
  var segment: Int
  var isTable: Bool
  var offset: Int
  var length: Int

  var description: String { isTable ? "table \(segment)" : "\(segment)[\(offset)..<\(offset + length)]" }
}

/// A version of a pack at another store, as a publisher would offer it: bytes and nothing else.
///
/// It is not changed once deliveries read it: then any thread may.
final class Site: @unchecked Sendable {
  var pack: String
  var version: pks_pack_version
  var segments: [PublishedSegment]
  var tables: [[UInt8]]
  var files: [[UInt8]]

  init(pack: String, version: pks_pack_version, segments: [PublishedSegment], tables: [[UInt8]], files: [[UInt8]]) {
    self.pack = pack
    self.version = version
    self.segments = segments
    self.tables = tables
    self.files = files
  }

  /// `disk` holds the store; the version is the pack's current one unless it is said.
  init(_ disk: Disk, pack: String = "p", version number: UInt64? = nil) throws {
    let snapshot = try Store(disk).snapshot()
    let index = UInt32(snapshot.packs.firstIndex { String(cString: $0.name) == pack }!)
    let found = snapshot.packs[Int(index)]
    let versions = (0..<found.version_count).map { pks_snapshot_version(snapshot.raw, index, $0) }
    self.pack = pack
    version = versions.first { number == nil || $0.number == number }!
    segments = try snapshot.segments(of: index, version: version.number)
    tables = try segments.map { try snapshot.frameTable(of: $0.id) }
    files = segments.map { disk.read("/store/segments/\(hex($0.id))")! }
  }

  func bytes(_ want: Want) -> [UInt8] {
    want.isTable ? tables[want.segment] : Array(files[want.segment][want.offset..<want.offset + want.length])
  }

  func isMetadata(_ want: Want) -> Bool { want.isTable || segments[want.segment].isMetadata }

  /// The request for it; digests are those of the tables as they are now.
  fileprivate func withRequest<Result>(
    _ adjust: (inout pks_delivery_request) -> Void, _ body: (inout pks_delivery_request) throws -> Result
  ) throws -> Result {
    let list = zip(segments, tables).map { segment, table in
      var row = pks_site_segment()
      withUnsafeMutableBytes(of: &row.id) { $0.copyBytes(from: segment.id) }
      row.file_length = segment.length
      row.is_metadata = segment.isMetadata
      withUnsafeMutableBytes(of: &row.table_digest) { $0.copyBytes(from: pks__id(of: table).array) }
      row.table_length = UInt32(table.count)
      return row
    }
    return try pack.withCString { name in
      try list.withUnsafeBufferPointer { list in
        var request = pks_delivery_request()
        request.pack = name
        request.version = version.number
        request.catalog = version.catalog
        request.layout = version.layout
        request.attributes = version.attributes
        request.committed_at_ns = version.committed_at_ns
        request.segments = list.baseAddress
        request.segment_count = UInt32(list.count)
        adjust(&request)
        return try body(&request)
      }
    }
  }
}

/// A delivery into a transaction, which it does not outlive unless it was staged.
final class Delivery {
  let site: Site
  private let transaction: Transaction
  private let raw: OpaquePointer
  private var isClosed = false
  private(set) var outstanding: [Want] = []
  /// All that was ever handed out, in order.
  private(set) var wanted: [Want] = []
  /// Those that the version comes by, once it does.
  private var deltas: [Delta] = []
  /// The change list that is to be given first, and whether it is outstanding.
  private var changes: [UInt8]?
  private var isListOutstanding = false

  /// `nil` when the store has the version already.
  init?(_ site: Site, into transaction: Transaction, adjust: (inout pks_delivery_request) -> Void = { _ in }) throws {
    self.site = site
    self.transaction = transaction
    var raw: OpaquePointer?, needed = false
    try site.withRequest(adjust) { request in
      try attempt { pks_delivery_open(&raw, &needed, transaction.raw, &request, $0) }
    }
    #expect(needed == (raw != nil))
    guard let raw else { return nil }
    self.raw = raw
  }

  /// How much work its maps had.
  var mapWork: map_work { delivery_map_work(raw) }

  deinit { close(discard: false) }

  /// Lets the version come by a delta from here on.
  func use(_ delta: Delta, adjust: (inout pks_delivery_delta) -> Void = { _ in }) throws {
    try use([delta], adjust: adjust)
  }

  /// Lets it come by a chain of them. `adjust` changes how the last one is named.
  func use(
    _ deltas: [Delta], adjust: (inout pks_delivery_delta) -> Void = { _ in },
    chain adjustChain: (inout pks_delivery_chain) -> Void = { _ in }
  ) throws {
    var rows = deltas.map { delta in
      pks_delivery_delta(
        header_digest: delta.info.header_digest, header_length: delta.info.header_length, length: delta.info.length)
    }
    adjust(&rows[rows.count - 1])
    try rows.withUnsafeBufferPointer { rows in
      var request = pks_delivery_chain(
        deltas: rows.baseAddress!, delta_count: UInt32(rows.count), context: nil, progress: nil)
      adjustChain(&request)
      try attempt { pks_delivery_use_deltas(raw, &request, $0) }
    }
    self.deltas = deltas
    outstanding = []
  }

  /// Lets the metadata come by a change list. Whether that is wanted; it was here otherwise.
  @discardableResult
  func use(changes: [UInt8], adjust: (inout pks_delivery_changes) -> Void = { _ in }) throws -> Bool {
    var request = pks_delivery_changes(), isWanted = false
    withUnsafeMutableBytes(of: &request.digest) { $0.copyBytes(from: pks__id(of: changes).array) }
    request.length = UInt32(changes.count)
    adjust(&request)
    try attempt { pks_delivery_use_changes(raw, &request, &isWanted, $0) }
    if isWanted { self.changes = changes }
    return isWanted
  }

  /// The folder of the received data, as a path of the disk.
  var folder: String? { pks_delivery_folder(raw).map { "/store/\(String(cString: $0))" } }

  /// Uses a segment of another store, whose file is in the folder.
  func use(segment id: [UInt8]) throws { try attempt { pks_delivery_use_segment(raw, id, $0) } }

  /// What a client that fetches would find for a want.
  func bytes(_ want: Want) -> [UInt8] {
    if isListOutstanding, let changes { return changes }
    guard !deltas.isEmpty else { return site.bytes(want) }
    return Array(deltas[want.segment].bytes[want.offset..<want.offset + want.length])
  }

  enum Step { case want(Want), wait, done }

  func next() throws -> Step {
    var want = pks_want(), next = PKS_NEXT_WAIT
    try attempt { pks_delivery_next(raw, &want, &next, $0) }
    switch next {
    case PKS_NEXT_WANT:
      let want = Want(
        segment: Int(want.segment), isTable: want.is_table, offset: Int(want.offset), length: Int(want.length))
      outstanding.append(want)
      isListOutstanding = changes != nil && wanted.isEmpty
      wanted.append(want)
      return .want(want)
    case PKS_NEXT_WAIT: return .wait
    default: return .done
    }
  }

  /// Gives bytes for the oldest want. `isFinal` is set when it fails.
  func give(_ bytes: [UInt8], isFinal: inout Bool) throws {
    try bytes.withUnsafeBytes { bytes in
      try attempt { pks_delivery_give(raw, bytes.baseAddress, bytes.count, &isFinal, $0) }
    }
    isListOutstanding = false
    outstanding.removeFirst()
  }

  func give(_ bytes: [UInt8]) throws {
    var isFinal = false
    try give(bytes, isFinal: &isFinal)
  }

  /// Fetches and gives one want after the other until all is there, with wrong bytes for each before the right ones: they are
  /// refused, and not for good.
  func runBesideWrongBytes() throws {
    while case .want(let want) = try next() {
      for place in 0..<3 {
        var wrong = bytes(want), isFinal = true
        wrong[place * (wrong.count - 1) / 2] ^= 0x40
        #expect(try status { try give(wrong, isFinal: &isFinal) } == PKS_CORRUPT && !isFinal, "\(want)")
      }
      try give(bytes(want))
    }
  }

  /// Fetches and gives until all is there, or `limit` wants were given: then it is false. Up to `window` wants are
  /// outstanding at a time.
  @discardableResult
  func run(limit: Int = .max, window: Int = 1) throws -> Bool {
    var given = 0
    while true {
      var isWaiting = false
      while outstanding.count < window && !isWaiting {
        switch try next() {
        case .want: break
        case .wait: isWaiting = true
        case .done: return true
        }
      }
      if given == limit { return false }
      try give(bytes(outstanding[0]))
      given += 1
    }
  }

  @discardableResult
  func stage() throws -> pks_add_result {
    var result = pks_add_result()
    try attempt { pks_delivery_stage(&result, raw, $0) }
    return result
  }

  var totals: pks_delivery_totals { pks_delivery_measure(raw) }

  func close(discard: Bool) {
    if !isClosed { pks_delivery_close(raw, discard) }
    isClosed = true
  }
}

extension Store {
  /// Brings a version here: delivers, stages, commits, clears up. What was wanted; `nil` when the store had it.
  @discardableResult
  func pull(
    _ site: Site, by deltas: [Delta] = [], changes: [UInt8]? = nil, _ durability: pks_durability = PKS_DURABLE,
    window: Int = 4
  ) throws -> Pull? {
    let transaction = try begin(durability)
    guard let delivery = try Delivery(site, into: transaction) else { return nil }
    if !deltas.isEmpty { try delivery.use(deltas) }
    if let changes { try delivery.use(changes: changes) }
    try delivery.run(window: window)
    let totals = delivery.totals, result = try delivery.stage()
    _ = try transaction.commit()
    delivery.close(discard: true)
    return Pull(wants: delivery.wanted, totals: totals, result: result)
  }

  struct Pull {
    var wants: [Want]
    var totals: pks_delivery_totals
    var result: pks_add_result
  }
}

extension Disk {
  /// Brings a version to the store on this disk, whose process ends again and again: each attempt is given `stride` wants,
  /// and is closed then, or killed. All wants that were given, and how many attempts it took.
  func deliver(
    stride: Int, killed: Bool, begin: (UnsafePointer<pks_vfs>) throws -> (Transaction, Delivery)
  ) throws -> (wants: [Want], attempts: Int) {
    var wants: [Want] = []
    for attempt in 1...200 {
      let process = sim_start_process(raw, 10 + UInt64(attempt))!
      let (transaction, delivery) = try begin(process)
      let resumed = delivery.totals.bytes_resumed
      let isDone = try delivery.run(limit: stride, window: 3)
      wants += delivery.wanted.dropLast(delivery.outstanding.count)
      #expect(delivery.totals.bytes_resumed >= resumed)
      if isDone {
        #expect(delivery.totals.bytes_done == delivery.totals.bytes_total)
        try delivery.stage()
        _ = try transaction.commit()
        delivery.close(discard: true)
        return (wants, attempt)
      }
      if killed { sim_kill(process) }
    }
    throw DeliveryHasNoEnd()
  }
}

private struct DeliveryHasNoEnd: Error {}
