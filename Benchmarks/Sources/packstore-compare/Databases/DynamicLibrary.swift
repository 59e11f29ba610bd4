import Foundation

/// A C library that is looked for when the program runs: the benchmark builds without its headers, and runs without it.
struct DynamicLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer
  private let name: String

  /// - Parameter files: the library's file names on different systems; the first existing file is loaded.
  init(_ name: String, files: [String]) throws {
    guard let handle = files.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else {
      throw Unavailable("\(name) is not installed")
    }
    self.handle = handle
    self.name = name
  }

  /// The function `symbol`. `type` is its type, `@convention(c)`: nothing checks that it is.
  func function<Function>(_ symbol: String, as type: Function.Type = Function.self) throws -> Function {
    guard let address = dlsym(handle, symbol) else { throw Unavailable("\(name) has no \(symbol)") }
    return unsafeBitCast(address, to: type)
  }
}
