/// "Did you mean": names similar to a mistyped name.

/// Returns up to three of `names` that are similar to `name`, the nearest first. Similar names differ by a few swapped, missing,
/// added or wrong letters, or by case, or begin with `name`.
package func nearestNames(to name: String, among names: some Sequence<String>) -> [String] {
  let wanted = Array(name.lowercased().unicodeScalars.prefix(maximumLength))
  let limit = wanted.count / 3  // for one or two letters, any other name would be similar
  let candidates = names.compactMap { candidate -> (name: String, distance: Int)? in
    let scalars = Array(candidate.lowercased().unicodeScalars.prefix(maximumLength))
    if let distance = editDistance(wanted, scalars, atMost: limit) { return (candidate, distance) }
    return wanted.count >= 3 && scalars.starts(with: wanted) ? (candidate, limit) : nil
  }
  return candidates.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
}

/// `'a'`, `'a' or 'b'`, `'a', 'b' or 'c'`.
package func alternatives(_ names: [String]) -> String {
  let quoted = names.map { "'\($0)'" }
  guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
  return quoted.dropLast().joined(separator: ", ") + " or " + last
}

/// `a, b, c`; for many names the first ten, and the number of others.
package func listed(_ names: [String]) -> String {
  let shown = names.prefix(10).joined(separator: ", ")
  if names.isEmpty { return "none" }
  return names.count > 10 ? "\(shown) and \(names.count - 10) more" : shown
}

/// Only the beginning of longer names is compared, to bound the work for one name.
private let maximumLength = 128

/// The number of letters to replace, insert, delete or swap with the next; `nil` if it exceeds `limit`.
private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar], atMost limit: Int) -> Int? {
  guard abs(a.count - b.count) <= limit else { return nil }
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for (i, letter) in a.enumerated() {
    var row = [i + 1]
    for (j, other) in b.enumerated() {
      var distance = min(last[j] + (letter == other ? 0 : 1), last[j + 1] + 1, row[j] + 1)
      if i > 0, j > 0, letter == b[j - 1], a[i - 1] == other { distance = min(distance, beforeLast[j - 1] + 1) }
      row.append(distance)
    }
    if row.min() ?? 0 > limit { return nil }
    (beforeLast, last) = (last, row)
  }
  return last[b.count] <= limit ? last[b.count] : nil
}
