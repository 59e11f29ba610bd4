import CPackStore
import Crypto

/// SHA-256 for the core, which has no cryptography of its own. Reentrant: the core calls it from its worker threads.
let sha256: @convention(c) (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void = {
  bytes, byteCount, digest in
  var hash = SHA256()
  hash.update(bufferPointer: UnsafeRawBufferPointer(start: bytes, count: byteCount))
  hash.finalize().withUnsafeBytes { result in
    UnsafeMutableRawBufferPointer(start: digest, count: result.count).copyMemory(from: result)
  }
}
