import BackgroundAssets

/// A file as a picture: its bytes along a curve that fills a square (Hilbert's), so that what is near in the file is near in the
/// picture. Texts, code, tables and compressed data have faces of their own.
enum Portrait {
  /// - Parameters:
  ///   - bytes: mapped, as a rule: only what is looked at is read.
  ///   - side: a power of two.
  static func picture(of bytes: Data, side: Int) -> Picture {
    var picture = Picture(side: side)
    guard !bytes.isEmpty else { return picture }
    let count = side * side
    bytes.withUnsafeBytes { bytes in
      for place in 0..<count {
        let begin = place * bytes.count / count
        let end = max((place + 1) * bytes.count / count, begin + 1)
        let (x, y) = position(place, side: side)
        picture.pixels[y * side + x] = color(of: bytes[begin..<min(end, bytes.count)])
      }
    }
    return picture
  }

  /// What a stretch of bytes is made of: zeros dark, texts blue, small numbers green, large ones red.
  private static func color(of bytes: Slice<UnsafeRawBufferPointer>) -> Color {
    var texts = 0, small = 0, large = 0, seen = 0
    for byte in stride(from: bytes.startIndex, to: bytes.endIndex, by: max(bytes.count / 32, 1)).lazy.map({ bytes[$0] })
    {
      seen += 1
      switch byte {
      case 0: break
      case 1..<0x20: small += 1
      case 0x20..<0x7f: texts += 1
      default: large += 1
      }
    }
    func share(_ count: Int, _ most: Int) -> UInt8 { UInt8(20 + count * (most - 20) / max(seen, 1)) }
    return Color(red: share(large, 250), green: share(small + texts / 3, 230), blue: share(texts, 255))
  }

  /// Where the curve is after so many steps.
  static func position(_ steps: Int, side: Int) -> (x: Int, y: Int) {
    var x = 0, y = 0, rest = steps, scale = 1
    while scale < side {
      let right = 1 & (rest / 2), up = 1 & (rest ^ right)
      if up == 0 {
        if right == 1 { (x, y) = (scale - 1 - x, scale - 1 - y) }
        (x, y) = (y, x)
      }
      x += scale * right
      y += scale * up
      rest /= 4
      scale *= 2
    }
    return (x, y)
  }
}
