/// What `localizedDescription` shows: the same English line as ``PackStoreError/description``.
extension PackStoreError: LocalizedError {
  public var errorDescription: String? { description }
  public var failureReason: String? { finding }
  public var recoverySuggestion: String? { remedy }
}
