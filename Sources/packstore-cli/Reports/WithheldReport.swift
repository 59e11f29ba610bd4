import PackFormats

/// The newest version of a pack that is not installed, as JSON has it.
struct WithheldReport: Encodable {
  let version: UInt64
  let reason: String
  let blockingPack: String?

  init(_ withheld: WithheldVersion) {
    version = withheld.version
    reason = withheld.reason.word
    blockingPack = withheld.blockingPack?.name
  }
}

extension WithheldVersion {
  /// The reason: `schedule`, `release incomplete (Level1)`.
  var words: String { reason.words + (blockingPack.map { " (\($0))" } ?? "") }
}

extension WithheldReason {
  /// As JSON has it.
  var word: String {
    rawValue.reduce(into: "") { word, letter in word += letter.isUppercase ? "_\(letter.lowercased())" : "\(letter)" }
  }

  var words: String {
    self == .undrawnShare ? "share, not decided yet" : word.split(separator: "_").joined(separator: " ")
  }
}
