import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Deliveries that use segments of another store in place of frames.
  @Suite struct SharedSegmentTests {
    private struct File {
      let id: [UInt8], bytes: [UInt8]
    }

    /// A version at a site, and the data segments of a store that installed it.
    private struct Case {
      let site: Site, content: Folder, files: [File]

      init() throws {
        var content = Folder.sample(seed: 5)
        for index in 0..<200 { content["many/\(1000 + index)"] = .file(Array(repeating: UInt8(index), count: 900)) }
        let published = try DeliveryTests.published([content], dictionary: .text)
        site = try Site(published)
        self.content = content
        let other = try DeliveryTests.empty()
        try Store(other).pull(site)
        let snapshot = try Store(other).snapshot()
        let segments = try snapshot.segments(of: 0, version: site.version.number).filter { !$0.isMetadata }
        files = segments.map { File(id: $0.id, bytes: other.read("/store/segments/\(hex($0.id))")!) }
      }

      func frames(_ wants: [Want]) -> [Want] { wants.filter { !site.isMetadata($0) } }
    }

    private static func use(_ files: [File], in delivery: Delivery, on disk: Disk) throws {
      let folder = try #require(delivery.folder)
      for file in files {
        disk.write(file.bytes, to: "\(folder)/\(hex(file.id))")
        try delivery.use(segment: file.id)
      }
    }

    /// Returns the frames that a pull fetched.
    private func pull(_ test: Case, _ files: [File], to disk: Disk, _ durability: pks_durability = PKS_DURABLE) throws
      -> [Want]
    {
      let transaction = try Store(disk).begin(durability)
      let delivery = try #require(try Delivery(test.site, into: transaction))
      try Self.use(files, in: delivery, on: disk)
      try delivery.run()
      #expect(delivery.totals.bytes_resumed == 0, "no earlier attempt received bytes")
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      return test.frames(delivery.wanted)
    }

    @Test(arguments: [PKS_DURABLE, PKS_ATOMIC]) func versionArrivesWithoutFrames(durability: pks_durability) throws {
      let test = try Case(), disk = try DeliveryTests.empty()
      #expect(!test.files.isEmpty)
      #expect(try pull(test, test.files, to: disk, durability) == [])
      try DeliveryTests.check(disk, test.content, version: test.site.version.number)
      for file in test.files { #expect(disk.read("/store/segments/\(hex(file.id))") == file.bytes) }
      #expect(disk.list("/store/incoming").filter { !$0.hasSuffix("/") } == [])
      #expect(!disk.hasLeaks)
    }

    /// Any damaged byte excludes the segment, and its chunks are fetched.
    @Test func damagedSegmentIsNotUsed() throws {
      let test = try Case(), first = test.files[0]
      let frames = try pull(test, Array(test.files.dropFirst()), to: DeliveryTests.empty())
      for step in 0..<24 {
        var bytes = first.bytes
        bytes[step * (bytes.count - 1) / 23] ^= 0x10
        let disk = try DeliveryTests.empty()
        #expect(
          try pull(test, [File(id: first.id, bytes: bytes)] + test.files.dropFirst(), to: disk) == frames, "\(step)")
        try DeliveryTests.check(disk, test.content, version: test.site.version.number, "\(step)")
        #expect(disk.read("/store/segments/\(hex(first.id))") != bytes, "\(step)")
      }
    }

    /// Files that are not the segment: empty, cut, of another segment, a metadata segment, and a missing file.
    @Test func otherFilesAreNotUsed() throws {
      let test = try Case(), first = test.files[0]
      let metadata = try #require(zip(test.site.segments, test.site.files).first { $0.0.isMetadata })
      let others = [
        File(id: first.id, bytes: []), File(id: first.id, bytes: Array(first.bytes.prefix(first.bytes.count / 2))),
        File(id: first.id, bytes: metadata.1), File(id: metadata.0.id, bytes: metadata.1),
        File(id: metadata.0.id, bytes: first.bytes),
      ]
      for (number, other) in others.enumerated() {
        let disk = try DeliveryTests.empty()
        #expect(try !pull(test, [other], to: disk).isEmpty, "\(number)")
        try DeliveryTests.check(disk, test.content, version: test.site.version.number, "\(number)")
      }
      let disk = try DeliveryTests.empty(), transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      try delivery.use(segment: first.id)
      try delivery.run()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(disk, test.content, version: test.site.version.number)
    }

    /// A process is killed after any request, and the next one uses the segments again.
    @Test(arguments: [1, 2, 5]) func killedDeliveryContinues(stride: Int) throws {
      let test = try Case(), disk = try DeliveryTests.empty()
      let (wants, _) = try disk.deliver(stride: stride, killed: true) { process in
        let transaction = try Store(disk, process: process).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try Self.use(test.files, in: delivery, on: disk)
        return (transaction, delivery)
      }
      #expect(test.frames(wants) == [])
      try DeliveryTests.check(disk, test.content, version: test.site.version.number)
    }

    /// A delivery continues without the other store. It checks the segments again, because another program may have changed them.
    @Test(arguments: [false, true]) func continuedDeliveryChecksAgain(isChanged: Bool) throws {
      let test = try Case(), disk = try DeliveryTests.empty(), first = test.files[0]
      let process = sim_start_process(disk.raw, 2)!
      let transaction = try Store(disk, process: process).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      try Self.use(test.files, in: delivery, on: disk)
      let folder = try #require(delivery.folder)
      try delivery.run()
      sim_kill(process)
      var bytes = first.bytes
      if isChanged { bytes[bytes.count / 3] ^= 1 }
      disk.write(bytes, to: "\(folder)/\(hex(first.id))")
      let pull = try #require(try Store(disk).pull(test.site))
      #expect(test.frames(pull.wants).isEmpty == !isChanged)
      try DeliveryTests.check(disk, test.content, version: test.site.version.number)
    }

    /// Power is lost after the commit: the names and bytes of the segments are durable.
    @Test func committedSegmentsSurvivePowerLoss() throws {
      let test = try Case(), disk = try DeliveryTests.empty()
      _ = try pull(test, test.files, to: disk)
      for left in disk.crashes(budget: 12, seed: 3) {
        try DeliveryTests.check(left, test.content, version: test.site.version.number, afterPowerLoss: true)
      }
    }

    @Test func segmentIsRefusedAfterTheFirstRequest() throws {
      let test = try Case(), disk = try DeliveryTests.empty(), transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      _ = try delivery.next()
      #expect(try status { try delivery.use(segment: test.files[0].id) } == PKS_INVALID_ARGUMENT)
    }
  }
}
