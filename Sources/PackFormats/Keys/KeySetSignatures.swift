import PackStore

/// The signatures of a message by exactly as many keys of a set as its threshold, in order of the keys.
package struct KeySetSignatures: Hashable, Sendable {
  private let rows: [Row]

  private struct Row: Hashable, Sendable {
    let index: UInt8
    let signature: [UInt8]
  }

  /// Chooses the signatures of the first keys that suffice. Every given signature is verified.
  ///
  /// - Throws: `untrusted` if a signature is invalid, its key does not belong to the set, or too few are given.
  package init(
    of message: [UInt8], as kind: SignedKind, by set: KeySet, _ signatures: [SitePublicKey: [UInt8]]
  ) throws {
    var rows: [Row] = []
    for (index, key) in set.keys.enumerated() {
      guard let signature = signatures[key] else { continue }
      guard key.verifies(signature, of: message, as: kind) else {
        throw PackStoreError(.untrusted, "the signature by the key \(key) is not valid for the request")
      }
      rows.append(Row(index: UInt8(clamping: index), signature: signature))
    }
    guard rows.count >= set.threshold else {
      throw PackStoreError(
        .untrusted,
        "\(rows.count) of the \(set.keys.count) keys of the set \(set.number) signed, and \(set.threshold) have to")
    }
    self.rows = Array(rows.prefix(set.threshold))
  }

  /// The threshold times: u8 index of the key, 64 bytes.
  package func encode(to writer: inout ByteWriter) {
    for row in rows {
      writer.append([row.index])
      writer.append(row.signature)
    }
  }

  /// Decodes the signatures of a set, and verifies each of them.
  ///
  /// - Throws: `untrusted` if a signature is invalid; `corrupt` if the indices do not rise, or one is too high.
  package init(
    of message: [UInt8], as kind: SignedKind, by set: KeySet, from reader: inout ByteReader
  ) throws {
    var rows: [Row] = [], last = -1
    for _ in 0..<set.threshold {
      let begin = reader.offset
      let index: UInt8 = try reader.integer(), signature = Array(try reader.take(SiteKey.signatureByteCount))
      guard Int(index) > last, Int(index) < set.keys.count else {
        throw reader.corrupt("invalid index of a key in a signature by a key set", at: begin)
      }
      last = Int(index)
      guard set.keys[Int(index)].verifies(signature, of: message, as: kind) else {
        throw PackStoreError(.untrusted, "a signature by a key set is invalid", file: reader.file)
      }
      rows.append(Row(index: index, signature: signature))
    }
    self.rows = rows
  }
}
