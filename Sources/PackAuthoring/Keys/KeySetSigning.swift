public import PackFormats
public import PackStore

extension KeySetRequest {
  /// Signs the request with the key of one holder. The key's file first records the set and the serials: a holder never signs two
  /// different sets with one number, or different delegations with one serial. The same request can be signed again.
  ///
  /// - Parameters:
  ///   - file: the key's file.
  ///   - signer: the signer of a key whose secret half is not in the file; `nil` for a key in the file.
  ///   - isDryRun: whether to check the request and sign nothing. Then the result is `nil`.
  /// - Throws: `untrusted` if the key does not belong to the sets of the request, or signed a different set or later delegations before;
  ///   `readOnly` or `ioError` if the file cannot record them: nothing is signed then; errors of key files and of the signer.
  @discardableResult
  public func sign(
    withKeyIn file: FilePath, signer: (any RootSigner)? = nil, isDryRun: Bool = false
  ) throws -> KeySetAnswer? {
    var key = try SiteKey(contentsOf: file)
    guard key.delegation == nil else {
      throw PackStoreError(.invalidArgument, "contains a release key; use the holder's root key", file: file.string)
    }
    guard holders.contains(key.publicKey) else {
      throw refusal("the key \(key.publicKey) does not belong to the key sets of the request", file)
    }
    let note = try note(after: key.holderNotes.first { $0.first == sets.firstID }, of: key.publicKey, in: file)
    guard !isDryRun else { return nil }
    if !key.holderNotes.contains(note) { try key.noting(note).replace(file) }
    if let signer { key = try key.signed(by: signer) }
    return try KeySetAnswer(self, by: key)
  }

  /// Returns the note of a holder who signs this request.
  private func note(after before: HolderNote?, of key: SitePublicKey, in file: FilePath) throws -> HolderNote {
    var writer = ByteWriter()
    target.encode(to: &writer)
    let set = Digest256(hashing: writer.bytes)
    var note = HolderNote(first: sets.firstID, setNumber: target.number, set: set)
    if let before {
      guard before.setNumber <= target.number else {
        throw refusal("the key signed the key set \(before.setNumber), which is later than the request's", file)
      }
      guard before.setNumber < target.number || before.set == set else {
        throw refusal("the key signed another key set with the number \(target.number)", file)
      }
      (note.serial, note.delegations) = (before.serial, before.delegations)
    }
    guard target.index(of: key) != nil, let first = delegations.first, let last = delegations.last else { return note }
    let digest = Digest256(hashing: delegationMessages.flatMap { $0 })
    guard first.serial > note.serial || (last.serial == note.serial && digest == note.delegations) else {
      throw refusal(
        "the key signed delegations with the serial \(note.serial), and the request has lower or equal ones", file)
    }
    (note.serial, note.delegations) = (last.serial, digest)
    return note
  }

  private func refusal(_ reason: String, _ file: FilePath) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason, file: file.string)
    error.specificRemedy = "ask who sent the request whether it is the newest one"
    return error
  }
}

extension KeySetFile {
  /// The result of a completed request.
  public struct Completion: Sendable {
    /// The set's file after the request.
    public let file: KeySetFile

    /// The new delegations, in the order of the request.
    public let delegations: [Delegation]
  }

  /// A signed delegation to a release key.
  public struct Delegation: Sendable {
    let sets: KeySetChain
    let delegation: KeyDelegation

    public var releaseKey: SitePublicKey { delegation.releaseKey }
    public var product: Store.Product { delegation.product }

    /// The lines that the release key's file gets, for a key on another machine.
    public var text: String {
      var writer = ByteWriter()
      delegation.encode(to: &writer)
      return "\(KeySetText.line("sets", sets.bytes))\n\(KeySetText.line("delegation", writer.bytes))\n"
    }
  }

  /// Completes a request with the answers of the holders. Every signature is verified. Changes no file.
  ///
  /// - Throws: `conflict` if the set changed since the request; `untrusted` if an answer is for another request, a signature is invalid,
  ///   too few holders signed, or a new holder did not sign.
  public func completing(_ request: KeySetRequest, with answers: [KeySetAnswer]) throws -> Completion {
    guard request.sets.bytes == sets.bytes else {
      throw PackStoreError(
        .conflict, "the key set changed since the request was written", remedy: "write a new request, and sign that")
    }
    try require(answers, for: request)
    let first = sets.firstID, old = sets.last
    var chain = sets
    if let next = request.next {
      let signatures = answers.reduce(into: [SitePublicKey: [UInt8]]()) { all, answer in
        all[answer.key] = answer.rotation
      }
      chain = try chain.appending(KeySetRotation(first: first, old: old, new: next, signatures: signatures))
    }
    let delegations = try request.delegations.enumerated().map { index, terms in
      let signatures = answers.reduce(into: [SitePublicKey: [UInt8]]()) { all, answer in
        if index < answer.delegations.count { all[answer.key] = answer.delegations[index] }
      }
      return try KeyDelegation(terms, by: chain.last, first: first, signatures: signatures)
    }
    var file = self
    file.complete(chain, delegations)
    return Completion(file: file, delegations: delegations.map { Delegation(sets: chain, delegation: $0) })
  }

  private func require(_ answers: [KeySetAnswer], for request: KeySetRequest) throws {
    let digest = request.digest
    for answer in answers {
      guard answer.request == digest else {
        throw PackStoreError(
          .untrusted, "the signatures by the key \(answer.key) are for another request",
          remedy: "sign the newest request")
      }
      guard request.holders.contains(answer.key) else {
        throw PackStoreError(.untrusted, "the key \(answer.key) does not belong to the key sets of the request")
      }
    }
    let missing = request.newHolders.filter { key in !answers.contains { $0.key == key } }
    guard missing.isEmpty else {
      let names = missing.map { "\($0)" }.joined(separator: ", ")
      throw PackStoreError(
        .untrusted, "new keys of the set did not sign: \(names)",
        remedy: "each new holder signs once, so that a mistyped key is found")
    }
  }
}

extension SiteKey {
  /// Returns this key as a release key with a delegation by a key set.
  ///
  /// - Throws: `corrupt` if the delegation is for another key.
  public func delegated(by delegation: KeySetFile.Delegation) throws -> SiteKey {
    try delegated(by: delegation.sets, delegation.delegation)
  }
}
