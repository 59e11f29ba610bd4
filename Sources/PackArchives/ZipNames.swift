import PackStore

extension ForeignArchive {
  /// The encoding of names in a zip file that are not UTF-8, and that no flag or field describes.
  public enum NameEncoding: String, Sendable, CaseIterable {
    /// The code page of DOS, which the format specifies.
    case cp437
    /// The code page of DOS in Western Europe.
    case cp850
    /// ISO 8859-1.
    case latin1

    /// The characters for bytes from 0x80 on.
    private var upper: [Unicode.Scalar] {
      switch self {
      case .cp437: Self.cp437Characters
      case .cp850: Self.cp850Characters
      case .latin1: (UInt8(0x80)...0xFF).map { Unicode.Scalar($0) }
      }
    }

    private static let cp437Characters = Array(
      ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
        + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}").unicodeScalars)

    private static let cp850Characters = Array(
      ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐"
        + "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}").unicodeScalars)

    /// Converts a name to UTF-8.
    func decode(_ name: [UInt8]) -> [UInt8] {
      let upper = upper
      var text = String.UnicodeScalarView()
      for byte in name { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upper[Int(byte - 0x80)]) }
      return Array(String(text).utf8)
    }
  }
}

/// Decodes names of zip entries that are not UTF-8, with a field of the archive or an encoding that the caller specifies.
struct ZipNames {
  /// The encoding of names that are not UTF-8.
  let encoding: ForeignArchive.NameEncoding?

  /// Info-ZIP's field with the name in UTF-8.
  private static let nameField: UInt16 = 0x7075
  private static let nameFieldVersion: UInt8 = 1
  /// The flag for names in UTF-8.
  private static let unicodeFlag: UInt16 = 1 << 11

  /// - Parameters:
  ///   - name: the name in the directory.
  ///   - fields: the extra fields of the entry.
  ///   - sum: computes the CRC-32 of bytes.
  func path(_ name: [UInt8], flags: UInt16, _ fields: [UInt16: ArraySlice<UInt8>], sum: ([UInt8]) -> UInt32) -> [UInt8]
  {
    guard String(validating: name, as: UTF8.self) == nil else { return name }
    // A field for another name is outdated.
    if let field = fields[Self.nameField], field.count > 5, field.first == Self.nameFieldVersion,
      UInt32(littleEndian: field.dropFirst().prefix(4)) == sum(name)
    {
      return Array(field.dropFirst(5))
    }
    guard flags & Self.unicodeFlag == 0, let encoding else { return name }
    return encoding.decode(name)
  }
}
