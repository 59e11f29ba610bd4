/// Divides a rectangle into rectangles with areas proportional to weights, and close to squares.
///
/// Fills rows along the shorter side while the worst aspect ratio improves: the "squarified treemap" of Bruls, Huizing and van Wijk
/// (2000).
struct Treemap {
  struct Rectangle: Hashable {
    var x, y, width, height: Double

    var area: Double { width * height }

    /// Returns the rectangle without a margin; its size is at least zero.
    func inset(_ margin: Double, top: Double = 0) -> Rectangle {
      Rectangle(
        x: x + margin, y: y + margin + top, width: max(width - 2 * margin, 0), height: max(height - 2 * margin - top, 0)
      )
    }
  }

  /// - Parameter weights: non-negative weights in descending order.
  /// - Returns: one rectangle for each weight; empty rectangles for zero weights, or if `whole` is empty.
  /// - Complexity: O(*n*).
  static func layOut(_ weights: [Double], in whole: Rectangle) -> [Rectangle] {
    let sum = weights.reduce(0, +)
    guard sum > 0, whole.area > 0 else {
      return weights.map { _ in Rectangle(x: whole.x, y: whole.y, width: 0, height: 0) }
    }
    let scale = whole.area / sum
    var result: [Rectangle] = [], left = whole, row: [Double] = [], rowArea = 0.0
    for weight in weights {
      let area = weight * scale, side = min(left.width, left.height)
      let isBetter =
        row.isEmpty
        || worstRatio(row, rowArea + area, adding: area, side) <= worstRatio(row, rowArea, adding: nil, side)
      if !isBetter {
        result += place(row, rowArea, in: &left)
        row = []
        rowArea = 0
      }
      row.append(area)
      rowArea += area
    }
    result += place(row, rowArea, in: &left)
    return result
  }

  /// Returns the worst aspect ratio in a row of areas along a side. The first area is the largest; `added`, or the last area, is
  /// the smallest.
  private static func worstRatio(_ row: [Double], _ area: Double, adding added: Double?, _ side: Double) -> Double {
    guard area > 0, side > 0, let largest = row.first, let smallest = added ?? row.last, smallest > 0 else {
      return .infinity
    }
    let thickness = area / side
    return max(largest / (thickness * thickness), thickness * thickness / smallest)
  }

  /// Places a row along the shorter side, and removes it from the remaining space.
  private static func place(_ row: [Double], _ area: Double, in left: inout Rectangle) -> [Rectangle] {
    let isUpright = left.width >= left.height, side = isUpright ? left.height : left.width
    let thickness = side > 0 ? min(area / side, isUpright ? left.width : left.height) : 0
    var at = isUpright ? left.y : left.x
    let placed = row.map { area in
      let length = thickness > 0 ? area / thickness : 0
      defer { at += length }
      return isUpright
        ? Rectangle(x: left.x, y: at, width: thickness, height: length)
        : Rectangle(x: at, y: left.y, width: length, height: thickness)
    }
    if isUpright {
      left.x += thickness
      left.width -= thickness
    } else {
      left.y += thickness
      left.height -= thickness
    }
    return placed
  }
}
