import CPackStore
import Synchronization

/// One asset to write, or one part of a large file.
struct ExtractJob {
  let path: ExtractPath
  let asset: pks_asset

  /// The range of the file to write.
  var range: Range<UInt64>

  /// The output file, if several jobs share it.
  var file: OutputFile?
}

/// The asset refers to data that is immutable until the walk ends, and the queue owns the walk.
extension ExtractJob: @unchecked Sendable {}

/// Distributes assets to the threads of one extraction, in order of paths, and collects their results.
///
/// Neighbouring small assets go to one thread, which then often has their folder open and their frame decoded. Large files are
/// split, so that one large file keeps all threads busy.
final class ExtractQueue: Sendable {
  private static let batchCount = 64
  private static let batchByteCount: UInt64 = 1 << 20
  private static let partByteCount: UInt64 = 8 << 20
  private static let largeByteCount: UInt64 = 16 << 20

  let target: OutputFolder
  let options: Store.ExtractOptions
  let twins = TwinNames()
  private let prefixCount: Int
  private let progress: @Sendable (_ fileCount: Int, _ byteCount: Int) -> Void
  private let state: Mutex<State>

  private struct State {
    let walk: AssetWalk
    var large: ExtractJob?
    /// Large files that are created but incomplete.
    var partial: [PartialFile] = []
    var result = Store.ExtractResult()
    var failure: (any Error)?
    /// For progress: files and bytes processed, including damaged ones.
    var passed = (files: 0, bytes: 0)
  }

  private struct PartialFile {
    let path: ExtractPath
    let file: OutputFile
    let byteCount: UInt64
    var left: UInt64
    var isDamaged = false
  }

  init(
    _ walk: sending AssetWalk, below folder: String, to target: consuming OutputFolder, options: Store.ExtractOptions,
    progress: @escaping @Sendable (_ fileCount: Int, _ byteCount: Int) -> Void
  ) {
    self.target = target
    self.options = options
    self.progress = progress
    prefixCount = folder.isEmpty ? 0 : folder.utf8.count + 1
    state = Mutex(State(walk: walk))
  }

  /// Returns the next jobs for one thread; empty if none are left, or another thread failed.
  func next(_ folders: inout FolderStack) throws -> [ExtractJob] {
    try state.withLock { state in
      guard state.failure == nil else { return [] }
      try Task.checkCancellation()
      if let part = try nextPart(&state, &folders) { return [part] }
      let batch = try nextBatch(&state)
      if batch.isEmpty, let part = try nextPart(&state, &folders) { return [part] }
      return batch
    }
  }

  /// Adds the result of one thread for these jobs. Files that several jobs share count when their last part is written.
  func add(_ done: Store.ExtractResult, of jobs: [ExtractJob]) throws {
    try state.withLock { state in
      for job in jobs {
        // The range of a link is its target, which no total counts.
        state.passed.bytes += job.asset.kind == PKS_FILE ? job.range.count : 0
        state.passed.files += job.file == nil && job.asset.kind != PKS_FOLDER ? 1 : 0
        try finishPart(job, &state)
      }
      state.result.fileCount += done.fileCount
      state.result.linkCount += done.linkCount
      state.result.folderCount += done.folderCount
      state.result.byteCount += done.byteCount
      state.result.refusedLinks += done.refusedLinks
      state.result.damaged += done.damaged
      progress(state.passed.files, state.passed.bytes)
    }
  }

  private func finishPart(_ job: ExtractJob, _ state: inout State) throws {
    guard let index = state.partial.firstIndex(where: { $0.file === job.file }) else { return }
    state.partial[index].left -= UInt64(job.range.count)
    guard state.partial[index].left == 0 else { return }
    let file = state.partial[index]
    if file.isDamaged {
      removePartialFiles([file])
    } else {
      var folders = FolderStack(root: target.descriptor)
      try file.file.finish(in: try folders.enter(file.path.folder))
    }
    // Removed only now: incomplete files are deleted at the end.
    state.partial.remove(at: index)
    state.passed.files += 1
    if !file.isDamaged {
      state.result.fileCount += 1
      state.result.byteCount += Int(clamping: file.byteCount)
    }
  }

  /// Records that a part of a shared file cannot be read. Returns true for the first part: the asset is listed once.
  func markDamaged(_ file: OutputFile) -> Bool {
    state.withLock { state in
      guard let index = state.partial.firstIndex(where: { $0.file === file }) else { return false }
      defer { state.partial[index].isDamaged = true }
      return !state.partial[index].isDamaged
    }
  }

  /// Stops all threads.
  func fail(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }

  func finish() throws -> Store.ExtractResult {
    try state.withLock { state in
      guard let failure = state.failure else { return state.result }
      removePartialFiles(state.partial)
      throw failure
    }
  }

  /// Deletes incomplete files, so that none is mistaken for a complete one.
  private func removePartialFiles(_ files: [PartialFile]) {
    var folders = FolderStack(root: target.descriptor)
    for file in files {
      if let folder = try? folders.enter(file.path.folder) { file.file.discard(in: folder) }
    }
  }

  /// Takes small assets until the batch is full or the next asset is large.
  private func nextBatch(_ state: inout State) throws -> [ExtractJob] {
    var batch: [ExtractJob] = []
    var byteCount: UInt64 = 0
    while batch.count < Self.batchCount, byteCount < Self.batchByteCount, let entry = try state.walk.next() {
      let path = try ExtractPath(entry.asset, droppingFirst: prefixCount)
      twins.add(path.relative)
      let job = ExtractJob(path: path, asset: entry.asset, range: 0..<entry.asset.size)
      if entry.asset.kind == PKS_FILE, entry.asset.size > Self.largeByteCount {
        state.large = job
        break
      }
      batch.append(job)
      byteCount = byteCount.addingClamped(entry.asset.size)
    }
    return batch
  }

  /// Returns the next part of the large file; the first part creates the file.
  private func nextPart(_ state: inout State, _ folders: inout FolderStack) throws -> ExtractJob? {
    guard var large = state.large else { return nil }
    if large.file == nil {
      let file = try makeFile(large, &folders)
      large.file = file
      state.partial.append(
        PartialFile(path: large.path, file: file, byteCount: large.asset.size, left: large.asset.size))
    }
    var part = large
    part.range = large.range.lowerBound..<min(large.range.lowerBound + Self.partByteCount, large.range.upperBound)
    large.range = part.range.upperBound..<large.range.upperBound
    state.large = large.range.isEmpty ? nil : large
    return part
  }

  func makeFile(_ job: ExtractJob, _ folders: inout FolderStack) throws -> OutputFile {
    let folder = try folders.enter(job.path.folder)
    return try OutputFile(
      job.path, in: folder, executable: job.asset.executable, replacing: options.overwrites, twins: twins,
      sparseByteCount: job.asset.size)
  }
}
