#if Hosting
  import Foundation
  import PackAuthoring
  import PackFormats
  import PackStore

  /// Signs the roots of a host on the machine with the key. It needs no host and no network.
  ///
  /// The signer trusts nothing in a request but the two roots: it computes the difference from them. For each channel, its
  /// note records the last signed root, so that a host that was taken over, or restored from a backup, cannot take devices back.
  struct OfflineRootSigner: Sendable {
    let request: RootRequest
    let root: SiteRoot
    let predecessor: SiteRoot?

    /// - Throws: `corrupt`, `untrusted` for text that is not a request, and for roots that do not belong together.
    init(_ text: String) throws {
      request = try RootRequest(text: text)
      let signed = try SignedSiteRoot(decoding: [UInt8](request.root), file: "request")
      guard signed.authority == nil else { throw Self.refusal("the root in the request is signed already") }
      root = signed.root
      let before = try request.predecessor.map { try SignedSiteRoot(decoding: [UInt8]($0), file: "request") }
      predecessor = before?.root
      guard let before else { return }
      guard before.root.channel == root.channel, before.root.product == root.product, before.root.site == root.site
      else {
        throw Self.refusal("the roots in the request belong to different channels")
      }
      try Self.require(root, follows: .init(before.root))
    }

    /// The change in words, computed from the roots.
    var difference: [String] {
      [
        "product \(root.product), channel '\(root.channel)', revision \(request.revision)",
        "number \(root.sequence), made at \(Date(timeIntervalSince1970: Double(root.madeAt) / 1e9).formatted(.iso8601))",
      ] + RootDifference.lines(from: predecessor, to: root)
    }

    /// Signs the root, and records it in the note first.
    ///
    /// - Parameters:
    ///   - key: the file of a root key, or of a release key for the channel.
    ///   - note: the signer's file; created if it is missing.
    ///   - now: nanoseconds since 1970; `nil` for the system's time.
    /// - Returns: the text of the answer.
    /// - Throws: `refused` for a root that is older than the note; `untrusted` if the key may not sign it; errors of files.
    func sign(key: FilePath, note: FilePath, now: Int64? = nil) throws -> String {
      let now = now ?? SystemTime().now.rawValue.multipliedReportingOverflow(by: 1_000_000).partialValue
      guard root.madeAt <= now.addingClamped(SiteRoot.clockTolerance) else {
        throw Self.refusal("its date is in the future")
      }
      let lock = try FileLock(
        FilePlace(FilePath(note.string + ".lock")), waits: true, reason: "another signer uses the note")
      defer { withExtendedLifetime(lock) {} }
      var notes = try SignerNotes(file: note)
      let name = "\(root.product)/\(root.channel)", digest = Digest256(hashing: [UInt8](request.root)).hex
      if let last = notes.roots[name], last.digest != digest { try Self.require(root, follows: last) }
      let bytes = try root.encode(signedBy: try SiteKey(contentsOf: key))
      var entry = SignerNotes.Entry(root)
      entry.digest = digest
      notes.roots[name] = entry
      try notes.write(to: note)
      return try RootAnswer(revision: request.revision, root: bytes).text
    }

    /// - Throws: `refused` if a sequence number, a pack's highest number or its epoch is lower than before.
    private static func require(_ root: SiteRoot, follows last: SignerNotes.Entry) throws {
      guard root.sequence > last.sequence else {
        throw refusal("its number \(root.sequence) is not above \(last.sequence)")
      }
      for (name, before) in last.highest.sorted(by: { $0.key < $1.key }) {
        let now = root.highest.first { $0.key.name == name }?.value
        guard let now, now.number >= before.number else {
          throw refusal("the highest number of '\(name)' is below \(before.number)")
        }
        guard now.epoch >= before.epoch else { throw refusal("the epoch of '\(name)' is below \(before.epoch)") }
      }
    }

    private static func refusal(_ reason: String) -> PackStoreError {
      var error = PackStoreError(.refused, reason, about: .value("root"))
      error.specificRemedy = "create another request; if the host was restored, run 'packstore-host reconcile' first"
      return error
    }
  }

  /// The last root of each channel that a signer signed, by product and channel.
  struct SignerNotes: Codable, Hashable {
    struct Entry: Codable, Hashable {
      struct Highest: Codable, Hashable {
        let number: UInt64
        let epoch: UInt64
      }

      let sequence: UInt64
      let highest: [String: Highest]

      /// SHA-256 of the unsigned root, which may be signed again.
      var digest = ""

      init(_ root: SiteRoot) {
        sequence = root.sequence
        highest = Dictionary(
          root.highest.map { ($0.key.name, Highest(number: $0.value.number, epoch: $0.value.epoch)) }
        ) {
          first, _ in first
        }
      }
    }

    var roots: [String: Entry] = [:]

    private static let byteCountLimit = 64 << 20

    /// - Throws: `corrupt` for a file with other contents: a lost note must not look like a new one.
    init(file: FilePath) throws {
      guard pathExists(file) else { return }
      let bytes = try InputFile(file).contents(limit: Self.byteCountLimit)
      do { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) } catch {
        throw PackStoreError(.corrupt, "not a note of a signer", file: file.string)
      }
    }

    func write(to file: FilePath) throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      let name = file.lastComponent?.string ?? "note", folder = file.removingLastComponent()
      try replaceFile(
        name, in: folder.isEmpty ? FilePath(".") : folder, by: Array(try encoder.encode(self)), draft: name + ".new")
    }
  }
#endif
