#if Hosting
  import Crypto
  import Foundation

  /// A token for build jobs. It is shown once; the host stores its hash only.
  enum BuildToken {
    /// Scanners for leaked secrets recognize the prefix.
    static let prefix = "pkh_"
    private static let digitCount = 64

    static func generate(_ random: some RandomSource) -> String { prefix + random.hex(digitCount / 2) }

    /// Returns the stored hash; `nil` if the text does not have the form of a token. The token has 256 random bits, so a hash
    /// without salt and repetition cannot be reversed.
    static func hash(_ text: some StringProtocol) -> Data? {
      guard text.hasPrefix(prefix), text.utf8.count == prefix.utf8.count + digitCount else { return nil }
      return Data(SHA256.hash(data: Data(text.utf8)))
    }
  }
#endif
