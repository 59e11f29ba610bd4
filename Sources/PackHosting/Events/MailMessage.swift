#if Hosting
  /// A mail as its server receives it (RFC 5322): plain text, in lines of at most 76 ASCII characters.
  ///
  /// No text of a user becomes a header line: the addresses have a checked form, the subject is encoded (RFC 2047), and so is the body.
  struct MailMessage: Hashable, Sendable {
    let sender: MailAddress
    let recipient: MailAddress
    let subject: String
    let text: String
    let date: Timestamp

    /// The part of `Message-ID` before the domain; it is the same in all attempts, so that receivers recognize a repetition.
    let id: String

    static let subjectByteCountLimit = 512

    /// The message with line ends CRLF. No line begins with a dot.
    var bytes: [UInt8] {
      let lines =
        [
          "From: <\(sender)>", "To: <\(recipient)>", "Subject: \(Self.encodedWords(subject))",
          "Date: \(Self.text(of: date))",
          "Message-ID: <\(id)@\(sender.domain)>", "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
          "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ] + Self.wrapped(Base64.encode(Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)))
      return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    private static let lineLength = 76

    private static func wrapped(_ text: String) -> [String] {
      let bytes = Array(text.utf8)
      return stride(from: 0, to: bytes.count, by: lineLength).map {
        String(decoding: bytes[$0..<min(bytes.count, $0 + lineLength)], as: UTF8.self)
      }
    }

    /// Encodes a text as words of at most 75 characters, on lines of their own. No word splits a character. Control characters become
    /// spaces.
    private static func encodedWords(_ text: String) -> String {
      var words: [String] = [], word: [UInt8] = [], byteCount = 0
      for scalar in text.unicodeScalars {
        let isControl = scalar.value < 0x20 || scalar.value == 0x7F || (0x80...0x9F).contains(scalar.value)
        let bytes = isControl ? [UInt8(ascii: " ")] : Array(String(scalar).utf8)
        guard byteCount + bytes.count <= subjectByteCountLimit else { break }
        if word.count + bytes.count > 45 {
          words.append("=?utf-8?B?\(Base64.encode(word))?=")
          word = []
        }
        word += bytes
        byteCount += bytes.count
      }
      words.append("=?utf-8?B?\(Base64.encode(word))?=")
      return words.joined(separator: "\r\n ")
    }

    /// Returns a date such as `Tue, 24 Nov 2026 09:30:00 +0000`.
    private static func text(of date: Timestamp) -> String {
      let parts = date.text.split { !$0.isNumber }
      let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
      // 1970 began on a Thursday.
      let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
      let day = Int(((date.seconds / 86_400) % 7 + 7) % 7)
      guard parts.count == 6, let month = Int(parts[1]), months.indices.contains(month - 1) else { return date.text }
      return "\(days[day]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) +0000"
    }
  }

  /// Base64 with padding (RFC 4648, section 4), as mail and its authentication use it.
  enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
      let digits = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
      return digits + String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
    }
  }
#endif
