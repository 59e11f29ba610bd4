// Sums of numbers from untrusted files: they stop at the largest number, and never trap.

extension FixedWidthInteger {
  package func addingClamped(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  package func subtractingClamped(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }

  /// Multiplies non-negative numbers.
  package func multipliedClamped(by other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}

extension Sequence where Element: FixedWidthInteger {
  package func clampedSum() -> Element { reduce(0) { $0.addingClamped($1) } }
}
