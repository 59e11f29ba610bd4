// Names for messages.

/// How two names differ that have equal foldings.
package func difference(between name: String, and other: String) -> String {
  // Strings are equal if they are canonically equivalent.
  name == other ? "Unicode normal form" : "case"
}

extension String {
  /// A name with its characters beyond ASCII as `\u00e9`: names that differ by normal form only look alike.
  package var withVisibleForm: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      guard !scalar.isASCII else { return text.unicodeScalars.append(scalar) }
      let digits = Swift.String(scalar.value, radix: 16)
      text +=
        scalar.value > 0xffff
        ? "\\u{\(digits)}" : "\\u" + Swift.String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  /// A name of any bytes. Invalid UTF-8 appears as `\xe9`.
  package init(showing bytes: some Collection<UInt8>) {
    var shown = ""
    var iterator = bytes.makeIterator()
    var rest = bytes[...]
    var parser = Unicode.UTF8.ForwardParser()
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        rest = rest.dropFirst(encoded.count)
        shown.unicodeScalars.append(Unicode.UTF8.decode(encoded))
      case .error(let length):
        for byte in rest.prefix(length) { shown += "\\x" + Swift.String(byte, radix: 16) }
        rest = rest.dropFirst(length)
      case .emptyInput:
        self = shown
        return
      }
    }
  }
}
