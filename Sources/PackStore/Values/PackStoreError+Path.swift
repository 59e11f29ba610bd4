/// Explains an error about a path that no asset can have. Such a path is usually one of the file system.
func explain(_ error: any Error, _ path: String) -> any Error {
  guard var error = error as? PackStoreError, error.code == .invalidArgument, path.hasPrefix("/") else { return error }
  let relative = String(path.drop { $0 == "/" })
  error.specificRemedy = "asset paths are relative" + (relative.isEmpty ? "" : ": '\(relative)'")
  return error
}
