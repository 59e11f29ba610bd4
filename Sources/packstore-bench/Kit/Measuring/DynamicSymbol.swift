import Foundation

/// Functions of libraries that this process has loaded, but whose headers no module offers.
enum DynamicSymbol {
  /// The C function `name`, or nil when no library has it. `type` is its type, `@convention(c)`.
  static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    #if canImport(Darwin)
      let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
    #else
      let everyLibrary: UnsafeMutableRawPointer? = nil
    #endif
    return dlsym(everyLibrary, name).map { unsafeBitCast($0, to: type) }
  }
}
