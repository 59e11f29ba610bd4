import CZstd
import Foundation

/// Parameters of one zstd encoder: a level, and changes to it.
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

extension ZstdEncoder {
  convenience init(_ parameters: ZstdParameters, dictionary: Data?) throws {
    try self.init(level: parameters.level)
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
}

extension ZstdDecoder {
  convenience init(dictionary: Data?) throws {
    self.init()
    guard let dictionary else { return }
    _ = try dictionary.withUnsafeBytes {
      try ZstdError.check(ZSTD_DCtx_loadDictionary(context, $0.baseAddress, $0.count))
    }
  }
}

/// Training of dictionaries. `zdict.h` is not part of the `CZstd` module, so its one function is found by name.
enum ZstdTrainer {
  private typealias Train =
    @convention(c) (
      UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, UnsafePointer<Int>?, UInt32
    ) -> Int

  /// Trains a dictionary of at most `capacity` bytes for content like `samples`, which are stored in sequence with
  /// these lengths.
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
