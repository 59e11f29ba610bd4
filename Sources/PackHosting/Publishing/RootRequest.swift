#if Hosting
  import Foundation
  import PackFormats
  import PackStore

  /// A root that waits for a signature, as a file for the machine with the key.
  struct RootRequest: Codable, Hashable, Sendable {
    static let currentFormat = "packstore-host root request 1"

    var format = Self.currentFormat
    let bundleID: String

    /// Counts the changes of the channel. The host accepts the newest one only.
    let revision: Int64

    /// The signed root that is published now; `nil` for the first.
    let predecessor: Data?

    /// The unsigned root.
    let root: Data

    /// The change in words, for people who read the file. Signers compute it again from the roots.
    let difference: [String]

    var text: String {
      get throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
      }
    }

    /// - Throws: `corrupt` for other text.
    init(text: String) throws {
      guard let request = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)),
        request.format == Self.currentFormat
      else {
        throw PackStoreError(.corrupt, "not a request for a root; create one with 'packstore-host root request'")
      }
      self = request
    }

    init(bundleID: String, revision: Int64, predecessor: Data?, root: Data, difference: [String]) {
      (self.bundleID, self.revision, self.difference) = (bundleID, revision, difference)
      (self.predecessor, self.root) = (predecessor, root)
    }
  }

  /// A signed root, as a file for the host.
  struct RootAnswer: Codable, Hashable, Sendable {
    static let currentFormat = "packstore-host root answer 1"

    var format = Self.currentFormat
    let revision: Int64
    let root: Data

    init(revision: Int64, root: [UInt8]) { (self.revision, self.root) = (revision, Data(root)) }

    /// - Throws: `corrupt` for other text.
    init(text: String) throws {
      guard let answer = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)),
        answer.format == Self.currentFormat
      else { throw PackStoreError(.corrupt, "not a signed root; create one with 'packstore-host root sign'") }
      self = answer
    }

    var text: String {
      get throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
      }
    }
  }
#endif
