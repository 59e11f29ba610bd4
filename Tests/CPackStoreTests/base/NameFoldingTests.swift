import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Which names are one name on disks that ignore case or normal forms.
  @Suite struct NameFoldingTests {
    private static func fold(_ name: [UInt8]) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: Int(PKS_FOLDED_NAME_MAX)) { target, count in
        name.withUnsafeBytes { name in
          target.withMemoryRebound(to: CChar.self) { target in
            let start = name.baseAddress ?? UnsafeRawPointer(target.baseAddress!)
            count = pks_fold_name(start.assumingMemoryBound(to: CChar.self), name.count, target.baseAddress!)
          }
        }
      }
    }

    private static func fold(_ name: String) -> [UInt8] { fold(Array(name.utf8)) }

    @Test(arguments: [
      ("a.txt", "A.TXT"), ("caf\u{e9}", "cafe\u{301}"), ("CAF\u{c9}", "cafe\u{301}"), ("stra\u{df}e", "STRASSE"),
      ("stra\u{1e9e}e", "strasse"), ("\u{3a3}", "\u{3c2}"), ("\u{212a}", "k"), ("\u{17f}", "S"), ("\u{fb01}", "FI"),
      ("\u{ac01}", "\u{1100}\u{1161}\u{11a8}"), ("\u{1fb3}", "\u{391}\u{399}"), ("q\u{307}\u{323}", "Q\u{323}\u{307}"),
      ("\u{1fb3}\u{301}", "\u{3b1}\u{301}\u{345}"), ("\u{10400}", "\u{10428}"), ("\u{130}", "i\u{307}"),
    ])
    func namesAreOne(_ one: String, _ other: String) {
      #expect(Self.fold(one) == Self.fold(other))
    }

    @Test(arguments: [
      ("a", "b"), ("a", "\u{e1}"), ("i", "\u{131}"), ("o", "\u{f8}"), ("a", "\u{ff41}"), ("1", "\u{2460}"),
      ("a b", "a_b"),
      ("\u{ac00}", "\u{ac01}"), ("", "a"), ("\u{430}", "a"),
    ])
    func namesAreTwo(_ one: String, _ other: String) {
      #expect(Self.fold(one) != Self.fold(other))
    }

    /// Each character: all its forms are one name, a folded name stays as it is, and none is longer than the limit.
    @Test func everyCharacter() {
      for value in UInt32(1)...0x10ffff {
        // The table is of Unicode 14; Swift may have a later one.
        guard let scalar = Unicode.Scalar(value), (scalar.properties.age?.major ?? 0) <= 14 else { continue }
        let name = String(Character(scalar)), folded = Self.fold(name)
        #expect(folded.count <= 3 * name.utf8.count, "U+\(String(value, radix: 16))")
        #expect(Self.fold(folded) == folded, "U+\(String(value, radix: 16))")
        let cased = scalar.properties.changesWhenCaseFolded
        let decomposed = value < 0x30000 ? name.decomposedStringWithCanonicalMapping : name
        if cased || !decomposed.unicodeScalars.elementsEqual([scalar]) {
          #expect(Self.fold(decomposed) == folded, "U+\(String(value, radix: 16))")
          #expect(Self.fold(scalar.properties.lowercaseMapping) == folded, "U+\(String(value, radix: 16))")
        } else {
          #expect(folded == Array(name.utf8), "U+\(String(value, radix: 16))")
        }
      }
    }

    /// Bytes that are not UTF-8 stay: the names of two files are never one by accident.
    @Test func invalidBytesStay() {
      for bytes in [[0xff], [0x41, 0xe9], [0xc3], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88]]
        as [[UInt8]]
      {
        #expect(Self.fold(bytes) == bytes.map { $0 == 0x41 ? 0x61 : $0 })
      }
      let longest = [UInt8](repeating: 0xff, count: 255)
      #expect(Self.fold(longest) == longest)
      #expect(Self.fold(String(repeating: "\u{390}", count: 127)).count == 127 * 6)
    }
  }
}
