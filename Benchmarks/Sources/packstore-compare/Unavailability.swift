/// Why `body` cannot be done here, or nil when it can.
func unavailableReason(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? Unavailable)?.reason ?? "\(error)"
  }
}
