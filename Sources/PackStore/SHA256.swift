import CPackHash
import CPackStore

/// SHA-256 for the core, which contains no cryptography. Reentrant: the core calls it from its worker threads.
let sha256: @convention(c) (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void = {
  bytes, byteCount, digest in
  pkh_sha256(bytes, byteCount, digest)
}
