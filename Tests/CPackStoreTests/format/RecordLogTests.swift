import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Append-only files of summed records.
  @Suite struct RecordLogTests {
    private final class File {
      let home: ScratchHome
      var records = pks__record_log()
      let handle: pks_vfs_file

      init(_ home: ScratchHome) throws {
        self.home = home
        handle = home.open("records", PKS_VFS_OPEN_OR_CREATE)
        try attempt { pks__record_log_open(&records, home.vfs, handle, "records", home.folder, $0) }
      }

      deinit {
        pks__record_log_close(&records)
        home.close(handle)
      }

      func append(_ parts: [[UInt8]]) throws -> UInt64 {
        let bytes = Array(parts.joined()), split = parts.first?.count ?? 0
        var offset: UInt64 = 0
        try bytes.withUnsafeBytes { bytes in
          let rows = [
            pks__record_part(bytes: bytes.baseAddress, byte_count: split),
            pks__record_part(bytes: bytes.baseAddress.map { $0 + split }, byte_count: bytes.count - split),
          ]
          try attempt { pks__record_log_append(&records, rows, rows.count, &offset, $0) }
        }
        return offset
      }

      func next() throws -> [UInt8]? {
        var payload: UnsafePointer<UInt8>?, count = 0, offset: UInt64 = 0, more = false
        try attempt { pks__record_log_next(&records, &payload, &count, &offset, &more, $0) }
        return more ? Array(UnsafeBufferPointer(start: payload, count: count)) : nil
      }

      func all() throws -> [[UInt8]] {
        var all: [[UInt8]] = []
        while let next = try next() { all.append(next) }
        return all
      }
    }

    private static func written(_ count: Int) throws -> (ScratchHome, [[UInt8]]) {
      let home = ScratchHome(), file = try File(home)
      var random = Random(51), payloads: [[UInt8]] = []
      for _ in 0..<count {
        payloads.append(random.bytes(1 + random.below(60)))
        let offset = try file.append([Array(payloads.last!.prefix(7)), Array(payloads.last!.dropFirst(7))])
        var back = [UInt8](repeating: 0, count: payloads.last!.count)
        try attempt { pks__record_log_read(&file.records, offset, &back, back.count, $0) }
        #expect(back == payloads.last!)
      }
      return (home, payloads)
    }

    @Test func comeBack() throws {
      let (home, payloads) = try Self.written(9), file = try File(home)
      #expect(try file.all() == payloads)
      let last = try file.append([[1], [2]])
      #expect(last + 2 + 8 == home.read("records").count, "what follows goes behind the last")
      #expect(try File(home).all() == payloads + [[1, 2]])
    }

    /// However the file ends, the records before are there; and what is appended then is, too.
    @Test func anyEnd() throws {
      let (home, payloads) = try Self.written(6), whole = home.read("records")
      for length in 0..<whole.count {
        home.put("records", Array(whole.prefix(length)))
        let kept = try File(home).all()
        #expect(kept == Array(payloads.prefix(kept.count)) && kept.count < payloads.count, "\(length) bytes")
        let file = try File(home)
        _ = try file.all()
        _ = try file.append([[9], [9]])
        #expect(try File(home).all() == kept + [[9, 9]], "\(length) bytes")
      }
    }

    /// A bit that is another one ends what counts, and nothing behind it counts as more.
    @Test func anyBit() throws {
      let (home, payloads) = try Self.written(5), whole = home.read("records")
      for at in 0..<whole.count {
        var other = whole
        other[at] ^= UInt8(1 << (at % 8))
        home.put("records", other)
        let kept = try File(home).all()
        #expect(kept == Array(payloads.prefix(kept.count)) && kept.count < payloads.count, "byte \(at)")
      }
    }

    /// What lies behind records that were written over older ones is not taken for more of them, unless they are the same.
    @Test func olderEnds() throws {
      let (home, payloads) = try Self.written(5)
      for isSame in [true, false] {
        let file = try File(home)
        _ = try file.next()
        let mark = pks__record_log_here(&file.records), second = try file.next()!
        pks__record_log_cut(&file.records, mark)
        _ = try file.append([isSame ? second : second.map { ~$0 }])
        let found = try File(home).all()
        #expect(isSame ? found == payloads : found == [payloads[0], second.map { ~$0 }])
      }
    }
  }
}
