import CPackStore
import CPackStoreTesting
import Foundation

/// A delta in memory, and what was told of it.
struct Delta: Sendable {
  var bytes: [UInt8]
  var info: pks_delta_info

  /// Whether the blocks are in the header.
  var isShort: Bool { bytes.starts(with: "PKSDELT1".utf8) }

  /// The places of the blocks after the header; none if the delta is short.
  var blocks: [Range<Int>] {
    guard !isShort else { return [] }
    let header = Int(info.header_length), name = Int(number(at: 156))
    let first = 172 + name + Int(number(at: 168 + name))
    var offset = header
    return stride(from: first, to: header, by: 40).map { row in
      let length = Int(number(at: row))
      defer { offset += length }
      return offset..<offset + length
    }
  }

  func number(at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
  }
}

/// Where a delta is written to, and how far its building may go.
private final class DeltaSink {
  var bytes: [UInt8] = []
  var calls = 0
  var callsAllowed = Int.max
  var writesAllowed = Int.max
}

extension Snapshot {
  func delta(
    of pack: String, from: UInt64, to: UInt64, level: Int32 = 0, cancelAfter calls: Int = .max,
    failAfter writes: Int = .max
  ) throws -> Delta {
    let sink = DeltaSink()
    sink.callsAllowed = calls
    sink.writesAllowed = writes
    var request = pks_delta_request(), info = pks_delta_info()
    request.from = from
    request.to = to
    request.level = level
    request.context = Unmanaged.passUnretained(sink).toOpaque()
    request.write = { context, offset, bytes, count in
      let sink = Unmanaged<DeltaSink>.fromOpaque(context!).takeUnretainedValue()
      if sink.writesAllowed == 0 { return EIO }
      sink.writesAllowed -= 1
      let end = Int(offset) + count
      if sink.bytes.count < end { sink.bytes += Array(repeating: 0xee, count: end - sink.bytes.count) }
      sink.bytes.replaceSubrange(Int(offset)..<end, with: UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    }
    request.progress = { context, done, total in
      let sink = Unmanaged<DeltaSink>.fromOpaque(context!).takeUnretainedValue()
      sink.calls += 1
      return done <= total && sink.calls < sink.callsAllowed
    }
    try pack.withCString { pack in
      request.pack = pack
      try attempt { pks_delta_build(&info, raw, &request, $0) }
    }
    return Delta(bytes: sink.bytes, info: info)
  }
}

/// Lends bytes as what a delta is read from.
private func withSource<Result>(_ delta: [UInt8], _ body: (pks_delta_source) throws -> Result) rethrows -> Result {
  try delta.withUnsafeBytes { lent in
    var box = lent
    return try withUnsafeMutablePointer(to: &box) { box in
      var source = pks_delta_source()
      source.context = UnsafeMutableRawPointer(box)
      source.read = { context, offset, out, count, got in
        let bytes = context!.assumingMemoryBound(to: UnsafeRawBufferPointer.self).pointee
        let left = offset < UInt64(bytes.count) ? bytes.count - Int(offset) : 0
        got.pointee = min(count, left)
        if left > 0 { out.copyMemory(from: bytes.baseAddress! + Int(offset), byteCount: min(count, left)) }
        return 0
      }
      return try body(source)
    }
  }
}

/// Lends all of them, in their order.
private func withSources<Result>(
  _ deltas: ArraySlice<[UInt8]>, _ lent: [pks_delta_source] = [], _ body: ([pks_delta_source]) throws -> Result
) rethrows -> Result {
  guard let first = deltas.first else { return try body(lent) }
  return try withSource(first) { try withSources(deltas.dropFirst(), lent + [$0], body) }
}

extension Transaction {
  @discardableResult
  func apply(
    _ delta: [UInt8], adjust: (inout pks_apply_request) -> Void = { _ in }
  ) throws -> pks_add_result {
    try apply(chain: [delta], adjust: adjust)
  }

  /// Applies deltas of which each goes on where the one before ends, as one.
  @discardableResult
  func apply(
    chain: [[UInt8]], adjust: (inout pks_apply_request) -> Void = { _ in }
  ) throws -> pks_add_result {
    var result = pks_add_result()
    try withSources(chain[...]) { sources in
      let steps = sources.dropLast().map { pks_delta_step(delta: $0, header_digest: nil) }
      try steps.withUnsafeBufferPointer { steps in
        var request = pks_apply_request()
        request.delta = sources.last!
        request.steps = steps.baseAddress
        request.step_count = UInt32(steps.count)
        adjust(&request)
        try attempt { pks_txn_apply_delta(&result, raw, &request, $0) }
      }
    }
    return result
  }
}

func inspect(_ delta: [UInt8]) throws -> pks_delta_info {
  var info = pks_delta_info()
  try withSource(delta) { source in
    var source = source
    try attempt { pks_delta_inspect(&info, &source, sha256, $0) }
  }
  return info
}
