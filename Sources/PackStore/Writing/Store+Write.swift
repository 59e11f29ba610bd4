extension Store {
  /// Begins to stage changes on top of the newest generation. Takes no lock: any number of processes may stage at once.
  ///
  /// `write` is simpler: it commits at the end.
  ///
  /// - Throws: `readOnly`; `isSite` when the store is a site's, which changes by publications alone; `ioError`,
  ///   `noSpace`, `outOfMemory`.
  public func makeTransaction(options: Transaction.Options = .init()) throws -> Transaction {
    Transaction(try TransactionHold(of: self, options: options))
  }

  /// Stages changes and commits them as one atomic switch. When `body` throws, nothing has happened.
  ///
  /// Blocks this thread until everything is stored, and on disk if the commit is durable. Installing inside stops when
  /// the surrounding task is cancelled. In asynchronous code the other form is called, which blocks no thread of the
  /// concurrency pool.
  ///
  /// - Throws: what `body` throws; from the commit what ``Transaction/commit()`` throws, and the old generation stays.
  @discardableResult
  public func write<Result: ~Copyable>(
    options: Transaction.Options = .init(), _ body: (inout Transaction) throws -> Result
  ) throws -> Result {
    var transaction = try makeTransaction(options: options)
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// Stages changes and commits them as one atomic switch, on a thread that may block. When `body` throws, nothing has
  /// happened.
  ///
  ///     try await store.write { transaction in
  ///       try transaction.install(folder: "Assets/Level1", as: "Level1")
  ///       try transaction.install(folder: "Assets/Level2", as: "Level2")
  ///     }
  ///
  /// Installing stops with `CancellationError` when the task is cancelled; the store is then as it was.
  @discardableResult
  public func write<Result: Sendable>(
    options: Transaction.Options = .init(), _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.run { try self.write(options: options, body) }
  }
}
