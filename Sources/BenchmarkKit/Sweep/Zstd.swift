import CZstd
import Foundation

/// Parameters of one zstd encoder: a level, and what is changed of it.
struct ZstdParameters: Hashable, Codable {
  var level: Int32 = 3
  var minimumMatch: Int32?
  var hashLog: Int32?
  var chainLog: Int32?
  var windowLog: Int32?
  var searchesLongDistances = false

  var description: String {
    var parts = ["level \(level)"]
    if let minimumMatch { parts.append("minMatch \(minimumMatch)") }
    if let chainLog { parts.append("chainLog \(chainLog)") }
    if let hashLog { parts.append("hashLog \(hashLog)") }
    if let windowLog { parts.append("windowLog \(windowLog)") }
    if searchesLongDistances { parts.append("long distances") }
    return parts.joined(separator: ", ")
  }
}

/// libzstd said no.
struct ZstdError: Error, CustomStringConvertible {
  let description: String

  /// The result of a libzstd function, unless it is an error code.
  static func check(_ result: Int) throws -> Int {
    guard ZSTD_isError(result) == 0 else {
      throw ZstdError(description: "zstd: \(String(cString: ZSTD_getErrorName(result)))")
    }
    return result
  }
}

/// Encodes frames as the core does: content size, no checksum, raw when the saving is under one sixteenth.
final class ZstdEncoder {
  private let context: OpaquePointer

  init(_ parameters: ZstdParameters, dictionary: Data? = nil) throws {
    context = ZSTD_createCCtx()
    try set(ZSTD_c_compressionLevel, parameters.level)
    try set(ZSTD_c_dictIDFlag, 0)
    if let minimumMatch = parameters.minimumMatch { try set(ZSTD_c_minMatch, minimumMatch) }
    if let hashLog = parameters.hashLog { try set(ZSTD_c_hashLog, hashLog) }
    if let chainLog = parameters.chainLog { try set(ZSTD_c_chainLog, chainLog) }
    if let windowLog = parameters.windowLog { try set(ZSTD_c_windowLog, windowLog) }
    if parameters.searchesLongDistances { try set(ZSTD_c_enableLongDistanceMatching, 1) }
    if let dictionary {
      _ = try dictionary.withUnsafeBytes {
        try ZstdError.check(ZSTD_CCtx_loadDictionary(context, $0.baseAddress, $0.count))
      }
    }
  }

  deinit { ZSTD_freeCCtx(context) }

  private func set(_ parameter: ZSTD_cParameter, _ value: Int32) throws {
    _ = try ZstdError.check(ZSTD_CCtx_setParameter(context, parameter, value))
  }

  /// Encodes `raw` to the beginning of `out` and returns the length, or nil when the frame is better stored raw.
  func encode(_ raw: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) throws -> Int? {
    let length = try ZstdError.check(ZSTD_compress2(context, out.baseAddress, out.count, raw.baseAddress, raw.count))
    return raw.count - length >= (raw.count + 15) / 16 ? length : nil
  }

  static func capacity(for rawLength: Int) -> Int { ZSTD_compressBound(rawLength) }
}

final class ZstdDecoder {
  private let context: OpaquePointer
  private let dictionary: OpaquePointer?

  init(dictionary: Data? = nil) {
    context = ZSTD_createDCtx()
    self.dictionary = dictionary?.withUnsafeBytes { ZSTD_createDDict($0.baseAddress, $0.count) }
  }

  deinit {
    ZSTD_freeDDict(dictionary)
    ZSTD_freeDCtx(context)
  }

  func decode(_ encoded: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) throws {
    let length =
      if let dictionary {
        ZSTD_decompress_usingDDict(context, out.baseAddress, out.count, encoded.baseAddress, encoded.count, dictionary)
      } else {
        ZSTD_decompressDCtx(context, out.baseAddress, out.count, encoded.baseAddress, encoded.count)
      }
    _ = try ZstdError.check(length)
  }
}

/// Training of dictionaries. `zdict.h` is no part of the `CZstd` module, so its one function is looked up by name.
enum ZstdTrainer {
  private typealias Train =
    @convention(c) (
      UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, UnsafePointer<Int>?, UInt32
    ) -> Int

  /// A dictionary of at most `capacity` bytes for content like that of `samples`, which lie one after another with these lengths.
  static func train(_ samples: Data, lengths: [Int], capacity: Int) throws -> Data {
    guard let train = DynamicSymbol.function("ZDICT_trainFromBuffer", as: Train.self) else {
      throw ZstdError(description: "this libzstd cannot train dictionaries")
    }
    var dictionary = Data(count: capacity)
    let length = try dictionary.withUnsafeMutableBytes { out in
      try samples.withUnsafeBytes { bytes in
        // Its error codes are libzstd's.
        try ZstdError.check(train(out.baseAddress, out.count, bytes.baseAddress, lengths, UInt32(lengths.count)))
      }
    }
    return dictionary.prefix(length)
  }
}
