import CPackStore

/// One thread of an extraction: processes jobs until none are left, with one buffer of fixed size.
struct ExtractWorker: ~Copyable {
  /// Below the size at which a read uses other threads, because each processor already has a worker. Decoded data is still in the
  /// processor's cache when it is written.
  private static let bufferByteCount = 240 << 10

  private let queue: ExtractQueue
  private var folders: FolderStack
  private let buffer: UnsafeMutableRawBufferPointer

  init(_ queue: ExtractQueue) {
    self.queue = queue
    folders = FolderStack(root: queue.target.descriptor, twins: queue.twins)
    buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 4096)
  }

  deinit { buffer.deallocate() }

  mutating func run() {
    do {
      while true {
        let jobs = try queue.next(&folders)
        guard !jobs.isEmpty else { return }
        var done = Store.ExtractResult()
        for job in jobs { try run(job, &done) }
        done.folderCount = folders.takeMadeCount()
        try queue.add(done, of: jobs)
      }
    } catch {
      queue.fail(error)
    }
  }

  private mutating func run(_ job: ExtractJob, _ done: inout Store.ExtractResult) throws {
    switch job.asset.kind {
    case PKS_FOLDER: _ = try folders.enter(job.path.relative)
    case PKS_LINK: try makeLink(job, &done)
    default: try write(job, &done)
    }
  }

  private mutating func write(_ job: ExtractJob, _ done: inout Store.ExtractResult) throws {
    guard job.file == nil else { return try writePart(job, &done) }
    let file = try queue.makeFile(job, &folders)
    do {
      if let damage = try copy(job, to: file) {
        done.damaged.append(.init(path: job.path.text, error: damage))
        discard(file, of: job)
      } else {
        try file.finish(in: try folders.enter(job.path.folder))
        done.byteCount += job.range.count
        done.fileCount += 1
      }
    } catch {
      discard(file, of: job)
      throw error
    }
  }

  /// Deletes an incomplete file, so that it is not mistaken for a complete one. The queue deletes shared files.
  private mutating func discard(_ file: OutputFile, of job: ExtractJob) {
    if let folder = try? folders.enter(job.path.folder) { file.discard(in: folder) }
  }

  private func writePart(_ job: ExtractJob, _ done: inout Store.ExtractResult) throws {
    guard let file = job.file, let damage = try copy(job, to: file) else { return }
    if queue.markDamaged(file) { done.damaged.append(.init(path: job.path.text, error: damage)) }
  }

  /// Returns why the asset cannot be read, if the error is to be listed.
  private func copy(_ job: ExtractJob, to file: OutputFile) throws -> PackStoreError? {
    var offset = job.range.lowerBound
    while offset < job.range.upperBound {
      let count = Int(min(UInt64(buffer.count), job.range.upperBound - offset))
      do {
        try check { error in job.path.lend(job.asset) { pks_asset_read($0, offset, buffer.baseAddress, count, error) } }
      } catch {
        return try listed(error)
      }
      try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
      offset += UInt64(count)
    }
    return nil
  }

  /// Returns an error of the store if it is to be listed; otherwise throws it.
  private func listed(_ error: any Error) throws -> PackStoreError {
    guard let damage = error as? PackStoreError, [.corrupt, .purged, .ioError].contains(damage.code),
      queue.options.continuesAfterDamage
    else { throw error }
    return damage
  }

  private mutating func makeLink(_ job: ExtractJob, _ done: inout Store.ExtractResult) throws {
    var loan = pks_bytes()
    do {
      try check { error in job.path.lend(job.asset) { pks_asset_link_target(&loan, $0, error) } }
    } catch {
      done.damaged.append(.init(path: job.path.text, error: try listed(error)))
      return
    }
    if !queue.options.createsUnsafeLinks,
      job.path.leadsOut(UnsafeRawBufferPointer(start: loan.bytes, count: loan.count))
    {
      done.refusedLinks.append(.init(path: job.path.text, target: String(copying: loan)))
    } else {
      let folder = try folders.enter(job.path.folder)
      try PackStore.makeLink(
        job.path, to: UnsafeRawBufferPointer(start: loan.bytes, count: loan.count), in: folder,
        replacing: queue.options.overwrites, twins: queue.twins)
      done.linkCount += 1
    }
  }
}
