import CPackStore

/// A fault, as a walk over a store tells it: once for each asset that it hurts.
struct Fault: Hashable, CustomStringConvertible {
  var number: UInt64
  var status: pks_status.RawValue
  var isCachedDamage: Bool
  var text: String
  var file: String
  var offset: UInt64?
  var length: UInt64
  var pack: String?
  var version: UInt64
  var asset: String?

  init(_ fault: pks_fault) {
    number = fault.number
    status = fault.status.rawValue
    isCachedDamage = fault.is_cached_damage
    text = String(cString: fault.text)
    file = String(cString: fault.file)
    offset = fault.offset == UInt64.max ? nil : fault.offset
    length = fault.length
    pack = fault.pack.map { String(cString: $0) }
    version = fault.version
    asset = fault.asset.map {
      String(decoding: UnsafeRawBufferPointer(start: $0, count: fault.asset_length), as: UTF8.self)
    }
  }

  var description: String {
    "\(text) \(file)" + (pack.map { ", \($0)@\(version) \(asset ?? "")" } ?? "")
  }
}

extension Snapshot {
  /// What a walk over the whole store finds.
  func verify(deep: Bool) throws -> (faults: [Fault], totals: pks_verify_totals) {
    final class Faults { var all: [Fault] = [] }
    let faults = Faults()
    var totals = pks_verify_totals()
    try attempt {
      pks_snapshot_verify(
        raw, deep,
        { context, fault in
          Unmanaged<Faults>.fromOpaque(context!).takeUnretainedValue().all.append(Fault(fault.pointee))
        }, nil, Unmanaged.passUnretained(faults).toOpaque(), &totals, $0)
    }
    return (faults.all, totals)
  }

  /// Faults that a walk over the whole store finds, as text.
  func faults(deep: Bool) throws -> [String] { try verify(deep: deep).faults.map(\.description) }
}
