import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// A request that lacks a pointer it needs is refused, and changes nothing. Zero-initialised requests lack all of them.
  @Suite struct RequestTests {
    private static func isRefused(_ call: (UnsafeMutablePointer<pks_error>) -> pks_status) -> Bool {
      do {
        try attempt(call)
        return false
      } catch {
        guard let failure = error as? Failure else { return false }
        return failure.status == PKS_INVALID_ARGUMENT && !failure.text.isEmpty
      }
    }

    private struct World {
      let store: Store
      let transaction: Transaction

      init() throws {
        let disk = try Change.severalPacks.start()
        store = try Store(disk)
        transaction = try store.begin()
      }
    }

    /// Lends the name of a pack.
    private static func withName(_ body: (UnsafePointer<CChar>) -> Void) { "p".withCString(body) }

    @Test func anAddNeedsPackAndFolder() throws {
      let world = try World()
      Self.withName { name in
        for var request in [
          pks_add_request(), with(pks_add_request()) { $0.pack = name }, with(pks_add_request()) { $0.folder = name },
        ] {
          #expect(Self.isRefused { pks_txn_add_folder(nil, world.transaction.raw, &request, $0) })
        }
      }
    }

    @Test func aCopyNeedsSourceAndPack() throws {
      let world = try World(), source = try world.store.snapshot()
      Self.withName { name in
        for var request in [
          pks_copy_request(), with(pks_copy_request()) { $0.pack = name },
          with(pks_copy_request()) { $0.source = source.raw },
        ] {
          #expect(Self.isRefused { pks_txn_copy_version(nil, world.transaction.raw, &request, $0) })
        }
      }
    }

    @Test func aDeliveryNeedsPackAndSegments() throws {
      let world = try World()
      Self.withName { name in
        for var request in [
          with(pks_delivery_request()) { $0.version = 1 },
          with(pks_delivery_request()) { ($0.version, $0.pack, $0.segment_count) = (1, name, 1) },
        ] {
          var delivery: OpaquePointer?, needed = false
          #expect(Self.isRefused { pks_delivery_open(&delivery, &needed, world.transaction.raw, &request, $0) })
          #expect(delivery == nil)
        }
      }
    }

    @Test func aDeltaToReadNeedsARead() throws {
      let world = try World()
      var info = pks_delta_info(), source = pks_delta_source(), request = pks_apply_request()
      #expect(Self.isRefused { pks_delta_inspect(&info, &source, sha256, $0) })
      #expect(Self.isRefused { pks_txn_apply_delta(nil, world.transaction.raw, &request, $0) })
    }

    @Test func aDeltaToBuildNeedsPackAndWrite() throws {
      let world = try World(), snapshot = try world.store.snapshot()
      var info = pks_delta_info()
      Self.withName { name in
        for var request in [
          pks_delta_request(), with(pks_delta_request()) { $0.pack = name },
          with(pks_delta_request()) { $0.write = { _, _, _, _ in 0 } },
        ] {
          #expect(Self.isRefused { pks_delta_build(&info, snapshot.raw, &request, $0) })
        }
      }
    }
  }
}

/// A copy that was changed.
private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}
