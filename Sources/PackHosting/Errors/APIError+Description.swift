#if Hosting
  import Foundation

  extension APIError: CustomStringConvertible, LocalizedError {
    /// The detail, for logs and the program's own commands.
    var description: String { detail }
    var errorDescription: String? { detail }
  }
#endif
