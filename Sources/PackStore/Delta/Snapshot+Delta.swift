import CPackStore

/// The `context` of the core's callbacks while it builds a delta.
private struct DeltaBuilder {
  let write: (UInt64, UnsafeRawBufferPointer) throws -> Void
  let progress: ((Int, Int) -> Void)?
  var failure: (any Error)?
}

extension Snapshot {
  /// Builds the delta between two kept versions of a pack.
  ///
  /// - Parameters:
  ///   - level: the compression level, 1 to 22; `nil` for the core's default.
  ///   - write: receives bytes of the file with their offset, in any order. The last call receives the whole header, at offset 0.
  ///   - progress: receives the number of processed bytes, and the total.
  /// - Throws: `notFound` if a version is not kept; `CancellationError` if the surrounding task is cancelled; the errors of
  ///   `write`; `invalidArgument`, `corrupt`, `purged`, `noSpace`, `ioError`, `outOfMemory`.
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

/// Calls `body` with the core's request, which is valid only during the call. The core stops if the surrounding task is cancelled.
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
