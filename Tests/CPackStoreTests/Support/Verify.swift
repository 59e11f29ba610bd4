import CPackStore

extension Snapshot {
  /// Faults that a walk over the whole store finds.
  func faults(deep: Bool) throws -> [String] {
    final class Faults { var texts: [String] = [] }
    let faults = Faults()
    var totals = pks_verify_totals()
    try attempt {
      pks_snapshot_verify(
        raw, deep,
        { context, fault in
          let file = withUnsafeBytes(of: fault!.pointee.file) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
          Unmanaged<Faults>.fromOpaque(context!).takeUnretainedValue().texts.append(
            "\(String(cString: fault!.pointee.text)) \(file)")
        }, nil, Unmanaged.passUnretained(faults).toOpaque(), &totals, $0)
    }
    return faults.texts
  }
}
