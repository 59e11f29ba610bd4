import Foundation

/// Finds functions of loaded libraries whose headers no module provides.
enum DynamicSymbol {
  /// Returns the C function `name`; `nil` if no loaded library contains it.
  ///
  /// - Parameter type: the function's type, with `@convention(c)`.
  static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    #if canImport(Darwin)
      let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
    #else
      let everyLibrary: UnsafeMutableRawPointer? = nil
    #endif
    return dlsym(everyLibrary, name).map { unsafeBitCast($0, to: type) }
  }
}
