import CPackStore

/// What the core tells while it builds a delta: the `context` of its callbacks.
private struct DeltaBuilder {
  let write: (UInt64, UnsafeRawBufferPointer) throws -> Void
  let progress: ((Int, Int) -> Void)?
  var failure: (any Error)?
}

extension Snapshot {
  /// Builds the delta between two kept versions of a pack.
  ///
  /// - Parameters:
  ///   - level: 1 to 22; nil: the core's default.
  ///   - write: takes bytes of the file with their offset, in no particular order; the header comes last, whole, at 0.
  ///   - progress: bytes that were worked on, and of how many.
  /// - Throws: `notFound` when a version is not kept; `CancellationError` when the surrounding task is; what `write`
  ///   throws; `invalidArgument`, `corrupt`, `purged`, `noSpace`, `ioError`, `outOfMemory`.
  package func buildDelta(
    of pack: PackID, from: UInt64, to: UInt64, level: Int32?,
    write: (UInt64, UnsafeRawBufferPointer) throws -> Void, progress: ((Int, Int) -> Void)? = nil
  ) throws -> DeltaFile.Info {
    try Task.checkCancellation()
    var info = pks_delta_info(), failure: (any Error)?
    do {
      try withoutActuallyEscaping(write) { write in
        var builder = DeltaBuilder(write: write, progress: progress)
        defer { failure = builder.failure }
        try check { error in
          withRequest(pack, from, to, level, &builder) { pks_delta_build(&info, pointer, $0, error) }
        }
      }
    } catch {
      throw failure ?? error
    }
    return try DeltaFile.Info(info)
  }
}

/// Lends the core's form of what to build. Stops when the surrounding task is cancelled.
private func withRequest<Result>(
  _ pack: PackID, _ from: UInt64, _ to: UInt64, _ level: Int32?, _ builder: inout DeltaBuilder,
  _ body: (UnsafePointer<pks_delta_request>) -> Result
) -> Result {
  var request = pks_delta_request()
  request.from = from
  request.to = to
  request.level = level ?? 0
  request.write = { context, offset, bytes, count in
    let builder = context!.assumingMemoryBound(to: DeltaBuilder.self)
    do {
      try builder.pointee.write(offset, UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    } catch {
      builder.pointee.failure = error
      return systemError(of: error)
    }
  }
  request.progress = { context, done, total in
    let builder = context!.assumingMemoryBound(to: DeltaBuilder.self)
    builder.pointee.progress?(Int(clamping: done), Int(clamping: total))
    return !Task.isCancelled
  }
  return withContext(&builder) { context in
    request.context = context
    return pack.name.withCString { pack in
      request.pack = pack
      return body(&request)
    }
  }
}
