#if Hosting
  import Synchronization

  /// The memory of request bodies that are received or processed at the same time. Parts of uploads are not counted: they are written
  /// to files piece by piece.
  ///
  /// A credential gets half of the memory at most, so that no client excludes all others.
  final class BodyMemory: Sendable {
    private struct State {
      var byteCount = 0
      var byCredential: [String: Int] = [:]
    }

    /// Bytes of all bodies.
    let limit: Int

    private let state = Mutex(State())

    init(limit: Int = 32 << 20) { self.limit = limit }

    /// Bytes of the bodies at this moment.
    var byteCount: Int { state.withLock { $0.byteCount } }

    private func take(_ byteCount: Int, for credential: String) -> Bool {
      state.withLock { state in
        let own = state.byCredential[credential] ?? 0
        guard byteCount <= limit - state.byteCount, byteCount <= limit / 2 - own else { return false }
        state.byteCount += byteCount
        state.byCredential[credential] = own + byteCount
        return true
      }
    }

    private func giveBack(_ byteCount: Int, of credential: String) {
      state.withLock { state in
        let rest = (state.byCredential[credential] ?? 0) - byteCount
        state.byteCount -= byteCount
        state.byCredential[credential] = rest > 0 ? rest : nil
      }
    }

    /// The memory of one body. It is given back when nothing refers to the share any more, also after a broken connection.
    final class Share: Sendable {
      private let memory: BodyMemory
      private let credential: String
      private let byteCount = Mutex(0)

      init(_ memory: BodyMemory, of credential: String) { (self.memory, self.credential) = (memory, credential) }

      /// Takes memory for a body of this length; nothing if the share is larger.
      ///
      /// - Throws: `APIError` 503 if the memory is used up.
      func grow(to length: Int) throws {
        try byteCount.withLock { byteCount in
          guard length > byteCount else { return }
          guard memory.take(length - byteCount, for: credential) else {
            throw APIError.unavailable("memory for request bodies: used up; send the request again")
          }
          byteCount = length
        }
      }

      deinit { memory.giveBack(byteCount.withLock { $0 }, of: credential) }
    }
  }
#endif
