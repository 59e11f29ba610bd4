import PackStore

/// The latest signatures of a key as one of a publisher's root keys, so that its holder never signs two different key sets with one
/// number, or two different lists of delegations with one serial.
package struct HolderNote: Hashable, Sendable {
  /// The id of the publisher's first root key or set.
  package let first: SitePublicKey

  /// The highest number of a key set that it signed a rotation to, or that it signed as a new holder.
  package var setNumber: UInt32

  /// The SHA-256 of that set.
  package var set: Digest256

  /// The highest serial of a delegation that it signed; 0 if none.
  package var serial: UInt64

  /// The SHA-256 of the delegations of that request.
  package var delegations: Digest256

  package static let word = "signed "

  package init(
    first: SitePublicKey, setNumber: UInt32, set: Digest256, serial: UInt64 = 0, delegations: Digest256 = .zero
  ) {
    self.first = first
    self.setNumber = setNumber
    self.set = set
    self.serial = serial
    self.delegations = delegations
  }

  // MARK: - As text

  /// `signed FIRST SET DIGEST SERIAL DIGEST`: a line of the key's file.
  package var line: String { "\(Self.word)\(first) \(setNumber) \(set.hex) \(serial) \(delegations.hex)" }

  /// Parses lines in bytewise order, one for each publisher; `nil` if they are not exactly of that form.
  static func parse(_ lines: some Sequence<Substring>) -> [HolderNote]? {
    var notes: [HolderNote] = []
    for line in lines {
      guard let note = HolderNote(line), note.line == line, notes.last.map({ $0.line < note.line }) ?? true,
        notes.last?.first != note.first
      else { return nil }
      notes.append(note)
    }
    return notes
  }

  private init?(_ line: Substring) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 6, let first = SitePublicKey(words[1]), let number = UInt32(words[2]), number > 0,
      number <= KeySet.numberLimit, let set = Digest256(hex: words[3]), let serial = UInt64(words[4]),
      serial <= PackVersion.lastNumber, let delegations = Digest256(hex: words[5])
    else { return nil }
    self.init(first: first, setNumber: number, set: set, serial: serial, delegations: delegations)
  }
}
