/// Something that people do with assets, measured.
protocol Workload {
  /// A heading of the report.
  var title: String { get }

  /// Measures, and hands over each comparison as soon as it is done.
  func measure(_ session: Session, _ report: (Comparison) -> Void) throws
}

/// The data has none of what a workload needs.
struct NothingToMeasure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
