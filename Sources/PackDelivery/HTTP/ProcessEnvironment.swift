#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The variables of this process's environment.
package func processEnvironment() -> [String: String] {
  var variables: [String: String] = [:]
  var next = environ
  while let line = next.pointee {
    let text = String(cString: line)
    if let equals = text.firstIndex(of: "=") {
      variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    next += 1
  }
  return variables
}
