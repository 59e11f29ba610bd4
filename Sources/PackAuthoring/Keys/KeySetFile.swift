public import PackFormats
public import PackStore

/// The root keys of a publisher that sign together, with all their rotations. The file contains no secret: each holder keeps one secret
/// key, and the file records the public keys and the signed rotations.
public struct KeySetFile: Sendable {
  package private(set) var sets: KeySetChain

  /// Whether each key of the present set has signed once, so that none of them is mistyped.
  public private(set) var isProved: Bool

  /// The highest serial of a delegation that was requested; 0 if none was.
  package private(set) var highestSerial: UInt64

  package private(set) var revocations: KeyRevocations

  /// The id that clients trust: give it to them for `--trust`. It changes with each rotation, and clients follow.
  public var id: SitePublicKey { sets.last.id }

  /// The id that identifies the publisher. It never changes.
  public var firstID: SitePublicKey { sets.firstID }

  /// The number of the present set: 1, and one more for each rotation.
  public var number: UInt32 { sets.last.number }

  /// How many of ``keys`` sign together.
  public var threshold: Int { sets.last.threshold }

  /// The keys of the present set, in bytewise order.
  public var keys: [SitePublicKey] { sets.last.keys }

  /// The maximum size of the file in bytes.
  static let byteCountLimit = 512 << 10

  /// Creates the first set of a new publisher.
  ///
  /// - Throws: `invalidArgument` if a set cannot have these keys or this threshold, or if it has a single key.
  public init(threshold: Int, keys: [SitePublicKey]) throws {
    sets = try KeySetChain(first: KeySet(threshold: threshold, keys: keys))
    guard !sets.hasSingleKeys else {
      throw PackStoreError(.invalidArgument, "a key set has at least two keys; a single root key needs no set")
    }
    isProved = false
    highestSerial = 0
    revocations = KeyRevocations()
  }

  /// Continues the root key of a publisher. A rotation to a set of several keys follows.
  ///
  /// - Throws: `invalidArgument` if the key is a release key, or was replaced too often.
  public init(continuing root: SiteKey) throws {
    guard root.delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot begin a key set; use the root key \(root.rootKey)")
    }
    sets = try KeySetChain(
      after: root.rotations,
      first: KeySet(number: UInt32(clamping: root.rotations.count + 1), threshold: 1, keys: [root.publicKey]))
    isProved = true
    highestSerial = root.highestSerial ?? 0
    revocations = root.revocations
  }

  /// Records the serials of a request, so that later ones are higher even if the clock is set back.
  mutating func note(_ serial: UInt64) { highestSerial = max(highestSerial, serial) }

  /// Records a completed request.
  mutating func complete(_ sets: KeySetChain, _ delegations: [KeyDelegation]) {
    self.sets = sets
    isProved = true
    for delegation in delegations {
      note(delegation.serial)
      revocations = revocations.revoking(below: delegation.revokedBelow, of: delegation.product)
    }
  }

  // MARK: - As text

  private static let firstLine = "packstore key set 1"
  private static let provedLine = "proved"
  private static let serialWord = "serial"

  package var text: String {
    let lines =
      [Self.firstLine, KeySetText.line("sets", sets.bytes)] + (isProved ? [Self.provedLine] : [])
      + (highestSerial > 0 ? ["\(Self.serialWord) \(highestSerial)"] : []) + revocations.lines
    return lines.map { $0 + "\n" }.joined()
  }

  /// Parses ``text``, and verifies all signatures.
  ///
  /// - Throws: `corrupt`; `untrusted` if a signature is invalid.
  package init(text: String, file: String) throws {
    var lines = try KeySetText(text, firstLine: Self.firstLine, file: file)
    sets = try lines.value("sets") { try KeySetChain(from: &$0) }
    isProved = lines.skip(Self.provedLine)
    highestSerial = 0
    if let word = lines.optionalWord(Self.serialWord) {
      guard let serial = UInt64(word), "\(serial)" == word, 1...PackVersion.lastNumber ~= serial else {
        throw lines.damage
      }
      highestSerial = serial
    }
    guard let revocations = KeyRevocations(lines: lines.rest, highest: highestSerial) else { throw lines.damage }
    self.revocations = revocations
  }
}
