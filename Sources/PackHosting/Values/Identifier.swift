#if Hosting
  /// The id of an object of one kind: a UUID in lower case.
  ///
  /// - Parameter Object: the record type, so that ids of different kinds are different types.
  struct Identifier<Object>: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    let rawValue: String

    /// Accepts any text: an id that no object has is not found.
    init(rawValue: String) { self.rawValue = rawValue }

    init(_ random: some RandomSource) { rawValue = random.uuid() }

    var description: String { rawValue }
  }

  /// The id of an app: a decimal number as text, as in App Store Connect.
  struct AppID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    let rawValue: String

    /// Accepts any text: an id that no app has is not found.
    init(rawValue: String) { self.rawValue = rawValue }

    /// Generates an id of ten digits.
    init(_ random: some RandomSource) {
      let number = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rawValue = String(1_000_000_000 + number % 9_000_000_000)
    }

    var description: String { rawValue }
  }
#endif
