import CZstd
import Foundation

/// An error of libzstd.
struct ZstdError: Error, CustomStringConvertible {
  let description: String

  /// Returns the result of a libzstd function; throws if it is an error code.
  static func check(_ result: Int) throws -> Int {
    guard ZSTD_isError(result) == 0 else {
      throw ZstdError(description: "zstd: \(String(cString: ZSTD_getErrorName(result)))")
    }
    return result
  }
}

/// Encodes frames like the core: with content size, without checksum, raw if compression saves less than one sixteenth.
final class ZstdEncoder {
  let context: OpaquePointer

  init(level: Int32 = 3) throws {
    context = ZSTD_createCCtx()
    try set(ZSTD_c_compressionLevel, level)
    try set(ZSTD_c_dictIDFlag, 0)
  }

  deinit { ZSTD_freeCCtx(context) }

  func set(_ parameter: ZSTD_cParameter, _ value: Int32) throws {
    _ = try ZstdError.check(ZSTD_CCtx_setParameter(context, parameter, value))
  }

  /// Encodes `raw` to the beginning of `out`. Returns the length; `nil` if the frame should be stored raw.
  func encode(_ raw: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) throws -> Int? {
    let length = try ZstdError.check(ZSTD_compress2(context, out.baseAddress, out.count, raw.baseAddress, raw.count))
    return raw.count - length >= (raw.count + 15) / 16 ? length : nil
  }

  static func capacity(for rawLength: Int) -> Int { ZSTD_compressBound(rawLength) }
}

final class ZstdDecoder {
  let context: OpaquePointer

  init() { context = ZSTD_createDCtx() }

  deinit { ZSTD_freeDCtx(context) }

  func decode(
    _ encoded: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer, with dictionary: ZstdDictionary? = nil
  ) throws {
    _ = try ZstdError.check(
      ZSTD_decompress_usingDDict(
        context, out.baseAddress, out.count, encoded.baseAddress, encoded.count, dictionary?.tables))
  }
}

/// A decoding dictionary, for use by any number of threads.
final class ZstdDictionary: @unchecked Sendable {
  fileprivate let tables: OpaquePointer

  init(_ bytes: Data) throws {
    guard let tables = bytes.withUnsafeBytes({ ZSTD_createDDict($0.baseAddress, $0.count) }) else {
      throw ZstdError(description: "zstd: invalid dictionary")
    }
    self.tables = tables
  }

  deinit { ZSTD_freeDDict(tables) }
}
