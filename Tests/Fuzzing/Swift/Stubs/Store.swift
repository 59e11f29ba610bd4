// Replaces the store, which contains nested value types, when decoders are fuzzed.
public enum Store {
  public enum InstallOptions {
    public enum Layout: String, CaseIterable, Sendable { case random, sequential, compact }
  }
}

/// Replaces the patterns of the core, which the target `glob` fuzzes.
package struct PathPattern: Hashable, Sendable {
  package let text: String

  package init(_ text: String) throws { self.text = text }
}

/// Replaces the place of a file: no file is opened here.
package struct FilePlace: Sendable {}

/// Replaces a file with the given bytes.
package final class InputFile {
  private let content: [UInt8]

  package init(_ content: [UInt8]) { self.content = content }

  /// No file is opened here.
  package convenience init(_ path: FilePath) throws { self.init([UInt8]()) }

  package func contents(limit: Int) throws -> [UInt8] { content }

  package var byteCount: UInt64 { get throws { UInt64(content.count) } }

  package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let part = content.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }

  package func bytes(at offset: UInt64 = 0, upTo count: Int) throws -> [UInt8] {
    Array(content.dropFirst(Int(clamping: offset)).prefix(count))
  }
}
