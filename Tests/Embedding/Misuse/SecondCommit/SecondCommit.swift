import PackStore

/// Must not compile: the first commit ends the transaction.
func commitTwice(_ store: Store) throws {
  let transaction = try store.makeTransaction()
  try transaction.commit()
  try transaction.commit()
}
