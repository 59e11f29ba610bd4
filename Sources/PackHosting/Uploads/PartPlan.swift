#if Hosting
  /// How a file is divided into parts.
  enum PartPlan {
    /// Returns offset and length of each part, in order.
    ///
    /// - Parameter byteCount: at least 1.
    static func parts(of byteCount: Int64) -> [(offset: Int64, length: Int64)] {
      stride(from: 0, to: byteCount, by: Int64.Stride(Assumptions.partByteCount)).map {
        ($0, min(Assumptions.partByteCount, byteCount - $0))
      }
    }
  }
#endif
