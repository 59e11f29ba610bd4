// Numbers of files that anyone may have made: sums of them stop at the largest number, and never trap.

extension FixedWidthInteger {
  package func addingClamped(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  package func subtractingClamped(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }

  /// Of numbers that are not negative.
  package func multipliedClamped(by other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}

extension Sequence where Element: FixedWidthInteger {
  package func clampedSum() -> Element { reduce(0) { $0.addingClamped($1) } }
}
