import CPackHash
import CPackStore

/// SHA-256 for the core, which contains no cryptography. Reentrant: the core calls it from its worker threads.
let sha256: @convention(c) (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void = {
  bytes, byteCount, digest in
  pkh_sha256(bytes, byteCount, digest)
}

/// SHA-256 of many messages at once, for chunks that the core hashes in groups. Reentrant.
///
/// `pks_message` and `pkh_message` have the same fields: the core does not depend on CPackHash, so each declares its own.
let sha256Many: @convention(c) (UnsafePointer<pks_message>, Int) -> Void = { messages, count in
  messages.withMemoryRebound(to: pkh_message.self, capacity: count) { pkh_sha256_many($0, count) }
}
