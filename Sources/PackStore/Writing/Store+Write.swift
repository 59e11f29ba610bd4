extension Store {
  /// Begins a transaction on top of the newest generation. Takes no lock: any number of processes may stage at once.
  ///
  /// `write` is simpler: it commits at the end.
  ///
  /// - Throws: `readOnly`; `isSite` for a site's store, which only publications change; `ioError`, `noSpace`, `outOfMemory`.
  public func makeTransaction(options: Transaction.Options = .init()) throws -> Transaction {
    Transaction(try TransactionHold(of: self, options: options))
  }

  /// Stages changes and commits them in one atomic step. If `body` throws, the store is unchanged.
  ///
  /// Blocks this thread until everything is stored, and synced if the commit is durable. Installing stops if the surrounding task
  /// is cancelled. Asynchronous code calls the other form, which blocks no thread of the concurrency pool.
  ///
  /// - Throws: the errors of `body`; the errors of ``Transaction/commit()``, and the old generation stays.
  @discardableResult
  public func write<Result: ~Copyable>(
    options: Transaction.Options = .init(), _ body: (inout Transaction) throws -> Result
  ) throws -> Result {
    var transaction = try makeTransaction(options: options)
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// Stages changes and commits them in one atomic step, on a thread that may block. If `body` throws, the store is unchanged.
  ///
  ///     try await store.write { transaction in
  ///       try transaction.install(folder: "Assets/Level1", as: "Level1")
  ///       try transaction.install(folder: "Assets/Level2", as: "Level2")
  ///     }
  ///
  /// Installing stops with `CancellationError` if the task is cancelled; the store is then unchanged.
  @discardableResult
  public func write<Result: Sendable>(
    options: Transaction.Options = .init(), _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.run { try self.write(options: options, body) }
  }
}
