import PackStore

/// Must not compile: the span outlives the snapshot that it borrows from.
func firstByte(of path: String, in store: Store) throws -> UInt8 {
  let span: RawSpan
  do {
    let snapshot = try store.makeSnapshot()
    span = try snapshot.bytes(of: path)
  }
  return span.unsafeLoad(as: UInt8.self)
}
