/// A measured use of assets.
protocol Workload {
  /// A heading of the report.
  var title: String { get }

  /// Measures, and passes each comparison to `report` as soon as it is complete.
  func measure(_ session: Session, _ report: (Comparison) -> Void) throws
}

/// The error if the data contains no assets that the workload can measure.
struct NothingToMeasure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
