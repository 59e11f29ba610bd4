/// The quantity that a comparison measures.
enum Quantity: String, Codable {
  /// Bytes per second.
  case throughput
  /// Seconds per operation.
  case timePerOperation
  /// Seconds for the complete run.
  case duration
  /// Bytes in use: memory, or files.
  case held

  func value(of sample: Sample) -> Double {
    switch self {
    case .throughput: Double(sample.byteCount) / sample.seconds
    case .timePerOperation: sample.seconds / Double(sample.operationCount)
    case .duration: sample.seconds
    case .held: Double(sample.heldByteCount ?? 0)
    }
  }

  var isBetterHigher: Bool { self == .throughput }
}
