#if Delivery
  import NIOHTTP1
  import PackDelivery
  import Synchronization
  import Testing

  @testable import PackStore

  /// A version that requests bytes of segments in phases: the requests of a phase are known when all of the previous
  /// phase were fulfilled.
  final class FakeVersion: Incoming {
    struct Segment {
      let bytes: [UInt8]
      let table: [UInt8]
      let isMetadata: Bool
    }

    let segments: [Segment]
    /// All that will be wanted, in order.
    let wanted: [Want]
    private var phases: [[Want]]
    private var outstanding: [Want] = []
    private(set) var given: [Want] = []
    /// What `give` takes for wrong although it is right, and how often.
    var doubts: [Want: Int] = [:]
    var isFinal = false

    init(_ segments: [Segment], _ phases: [[Want]]) {
      self.segments = segments
      self.phases = phases
      wanted = phases.flatMap { $0 }
    }

    func next() throws -> NextWant {
      while phases.first?.isEmpty == true {
        guard outstanding.isEmpty else { return .wait }
        phases.removeFirst()
      }
      guard !phases.isEmpty else { return .done }
      let want = phases[0].removeFirst()
      outstanding.append(want)
      return .want(want)
    }

    func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome {
      let want = outstanding[0], segment = segments[want.segment]
      let expected =
        want.isTable ? segment.table[...] : segment.bytes[Int(want.offset)..<Int(want.offset) + want.byteCount]
      let error = PackStoreError(.corrupt, "wrong")
      if !bytes.elementsEqual(expected) { return .mismatch(error, isFinal: false) }
      if let count = doubts[want], count > 0 {
        doubts[want] = count - 1
        return .mismatch(error, isFinal: isFinal)
      }
      given.append(outstanding.removeFirst())
      return .taken
    }

    var files: [SegmentFiles] {
      segments.indices.map { index in
        SegmentFiles(
          segment: SiteFile("segments/\(index)", byteCount: UInt64(segments[index].bytes.count)),
          table: SiteFile("frames/\(index)", byteCount: UInt64(segments[index].table.count)),
          content: segments[index].isMetadata ? .metadata : .frames)
      }
    }

    var served: [String: [UInt8]] {
      var served: [String: [UInt8]] = [:]
      for (index, segment) in segments.enumerated() {
        served["segments/\(index)"] = segment.bytes
        served["frames/\(index)"] = segment.table
      }
      return served
    }

    /// Two metadata segments and three of data; tables, then pages in three levels, then frames, all by chance.
    static func random(seed: UInt64) -> FakeVersion {
      var generator = SeededGenerator(seed: seed)
      let segments = (0..<5).map { index in
        Segment(
          bytes: noise(index < 2 ? 40_000 : 700_000, seed: seed + UInt64(index)),
          table: noise(3000, seed: seed + 50 + UInt64(index)),
          isMetadata: index < 2)
      }
      func frames(_ indices: Range<Int>, _ chance: Int) -> [Want] {
        indices.flatMap { segment -> [Want] in
          var wants: [Want] = [], offset = 100
          while true {
            let count = Int.random(in: 1...20_000, using: &generator)
            guard offset + count <= segments[segment].bytes.count else { return wants }
            if Int.random(in: 0..<100, using: &generator) < chance {
              wants.append(Want(segment: segment, offset: UInt64(offset), byteCount: count))
            }
            offset += count + Int.random(in: 0...3000, using: &generator)
          }
        }
      }
      let tables = segments.indices.map { Want(segment: $0, isTable: true, byteCount: 3000) }
      return FakeVersion(
        segments, [tables, frames(0..<2, 30), frames(0..<2, 60), frames(0..<1, 30), frames(2..<5, 50)])
    }
  }

  @Suite struct FetcherTests {
    let time = TestTime()
    let folder = TestFolder()

    /// Fetches all of a version, and returns the received bytes and the requests.
    @discardableResult
    func fetch(
      _ version: FakeVersion, limits: FetchLimits = .init(), hasRanges: Bool = true, knowsRanges: Bool = true,
      fault: FaultServer.Fault? = nil
    ) async throws -> (tally: FetchTally, server: FaultServer) {
      var served = version.served
      served["root"] = [1]
      let server = try await FaultServer(served, hasRanges: hasRanges, time: time)
      var options = HTTPSource.Options()
      options.clock = time.clock()
      let source = try HTTPSource(server.url, options: options)
      if knowsRanges { _ = try await source.readWhole("root", upTo: 10) }
      server.replaceFault(fault)
      let fetcher = Fetcher(
        source: source, incoming: version, files: version.files, limits: limits, spoolFolder: folder.path)
      do {
        try await fetcher.run()
        #expect(version.given == version.wanted, "all, in order")
        await source.close()
        await server.close()
        return (fetcher.tally, server)
      } catch {
        await source.close()
        await server.close()
        throw error
      }
    }

    func ranges(_ server: FaultServer, of path: String) -> [ClosedRange<Int>] {
      server.requests.filter { $0.path == "site/\(path)" }.compactMap(\.range)
    }

    @Test(arguments: 1...5)
    func fetchesAllInOrder(seed: UInt64) async throws {
      let version = FakeVersion.random(seed: seed)
      let (tally, server) = try await fetch(version)
      let wanted = version.wanted
      let metadata = wanted.filter { $0.segment < 2 || $0.isTable }.reduce(0) { $0 + $1.byteCount }
      let frames = wanted.filter { $0.segment >= 2 && !$0.isTable }.reduce(0) { $0 + $1.byteCount }
      #expect(tally.requestCount == server.requests.count - 1)
      #expect(tally.requestCount < wanted.count, "near wants are merged")
      // Beyond the requested bytes, at most one gap for each request.
      #expect(tally.frameByteCount >= frames && tally.frameByteCount <= frames + 2048 * wanted.count)
      #expect(tally.metadataByteCount >= metadata && tally.metadataByteCount <= metadata + 2048 * wanted.count)
      #expect(server.state.withLock { $0.mostOpenConnections } <= 6)
    }

    @Test func mergesWhatIsNear() async throws {
      func want(_ offset: UInt64, _ count: Int, _ segment: Int = 0) -> Want {
        Want(segment: segment, offset: offset, byteCount: count)
      }
      let segment = FakeVersion.Segment(bytes: noise(3_000_000, seed: 1), table: [0], isMetadata: false)
      let version = FakeVersion(
        [segment, segment],
        [
          [
            want(0, 100), want(100, 50), want(2198, 2), want(4249, 1),  // touches, 2,048 apart, 2,049 apart
            want(10_000, 1_000_000), want(1_010_000, 48_576), want(1_058_576, 1),  // exactly a mebibyte, and one more
            want(1_058_578, 5, 1),  // another segment
            want(10, 10),  // back
          ]
        ])
      let (_, server) = try await fetch(version)
      #expect(
        Set(ranges(server, of: "segments/0"))  // they arrive in no order
          == [0...2199, 4249...4249, 10_000...1_058_575, 1_058_576...1_058_576, 10...19])
      #expect(ranges(server, of: "segments/0").count == 5)
      #expect(ranges(server, of: "segments/1") == [1_058_578...1_058_582])
    }

    /// A request may be larger than the limit of outstanding bytes.
    @Test func largeWantsAreAlone() async throws {
      var limits = FetchLimits()
      limits.outstandingByteCount = 1000
      limits.requestByteCount = 500
      let segment = FakeVersion.Segment(bytes: noise(100_000, seed: 1), table: [0], isMetadata: false)
      let sizes = [300, 300, 5000, 700, 20_000, 1000, 1001, 1, 1]
      var offset: UInt64 = 0
      let wants = sizes.map { size in
        defer { offset += UInt64(size) + 3000 }
        return Want(segment: 0, offset: offset, byteCount: size)
      }
      let version = FakeVersion([segment], [wants])
      let (_, server) = try await fetch(version, limits: limits)
      #expect(server.requests.count == sizes.count + 1)
    }

    // MARK: - No ranges

    @Test(arguments: [true, false], [11, 12])
    func readsEachFileOnceWithoutRanges(knowsRanges: Bool, seed: UInt64) async throws {
      let version = FakeVersion.random(seed: seed)
      let (tally, server) = try await fetch(version, hasRanges: false, knowsRanges: knowsRanges)
      let whole = server.requests.filter { $0.range == nil }.map(\.path)
      #expect(whole.sorted() == version.served.keys.map { "site/\($0)" }.sorted(), "each once")
      if knowsRanges {
        #expect(tally.metadataByteCount == 5 * 3000 + 2 * 40_000)
        #expect(tally.frameByteCount <= 3 * 700_000)
      }
    }

    // MARK: - Wrong bytes

    @Test(arguments: [true, false])
    func wrongBytesAreFetchedOnceMore(hasRanges: Bool) async throws {
      let version = FakeVersion.random(seed: 3)
      let flips = Mutex<Set<String>>([])
      // Each file comes with a wrong bit the first time.
      try await fetch(version, hasRanges: hasRanges) { request, reply in
        if flips.withLock({ $0.insert(request.path).inserted }), !reply.body.isEmpty {
          reply.body[reply.body.count / 2] ^= 16
        }
      }
      #expect(flips.withLock { $0.count } == 10)
    }

    @Test(arguments: [true, false])
    func wrongBytesTwiceAreAnError(hasRanges: Bool) async throws {
      let version = FakeVersion.random(seed: 3)
      do {
        try await fetch(version, hasRanges: hasRanges) { request, reply in
          if request.path == "site/segments/3" { for index in reply.body.indices { reply.body[index] ^= 1 } }
        }
        Issue.record("wrong bytes were taken")
      } catch let error as DeliveryError {
        #expect(error.code == .corrupt)
        #expect(error.location?.hasSuffix("/site/segments/3") == true)
        #expect(error.offset != nil)
      }
    }

    @Test func whatWasPublishedWrongIsNotFetchedAgain() async throws {
      let want = Want(segment: 0, offset: 10, byteCount: 10)
      let segment = FakeVersion.Segment(bytes: noise(100, seed: 1), table: [0], isMetadata: true)
      for isFinal in [true, false] {
        let version = FakeVersion([segment], [[want]])
        version.doubts[want] = 1
        version.isFinal = isFinal
        do {
          let (_, server) = try await fetch(version)
          #expect(!isFinal)
          #expect(server.requests.count == 3)
        } catch let error as DeliveryError {
          #expect(isFinal && error.code == .corrupt && error.offset == 10)
        }
      }
    }

    // MARK: - Campaign

    /// With any faults of requests, all bytes arrive in order, and no byte is requested again after it arrived.
    @Test(arguments: 1...12)
    func survivesFaults(seed: UInt64) async throws {
      let version = FakeVersion.random(seed: 100 + seed)
      let generator = Mutex(SeededGenerator(seed: seed))
      let hasRanges = seed % 4 != 0
      let (tally, _) = try await fetch(version, hasRanges: hasRanges) { request, reply in
        let (kind, cut) = generator.withLock { generator in
          (Int.random(in: 0..<20, using: &generator), Int.random(in: 0...max(reply.body.count, 1), using: &generator))
        }
        reply.declaredLength = reply.body.count
        switch kind {
        case 0: (reply.sentCount, reply.end) = (cut, .close)
        case 1: (reply.sentCount, reply.end) = (cut, .reset)
        case 2: (reply.sentCount, reply.end) = (cut, .stall)
        case 3: reply = FaultServer.Reply(status: 503)
        case 4: reply = FaultServer.Reply(status: 429, headers: [("Retry-After", "3")])
        case 5: reply.headers.removeAll { $0.0 == "Content-Range" }
        case 6: reply.declaredLength = -1
        default: break
        }
      }
      let wanted = version.wanted.reduce(0) { $0 + $1.byteCount }
      if hasRanges { #expect(tally.frameByteCount + tally.metadataByteCount >= wanted) }
    }
  }
#endif
