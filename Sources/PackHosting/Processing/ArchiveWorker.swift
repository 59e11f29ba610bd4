#if Hosting
  import PackStore

  /// Checks archives outside of the host's address space.
  protocol ArchiveWorker: Sendable {
    /// - Throws: faults of the machine. Faults of the archive are in the verdict.
    func check(_ archive: ArchiveCheck) async throws -> WorkerVerdict
  }
#endif
