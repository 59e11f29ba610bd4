import PackStore

/// Returns the date for reproducible output: the variable SOURCE_DATE_EPOCH of the reproducible-builds project, in seconds since
/// 1970, or 0 if it is not set.
func sourceDate(_ environment: [String: String]) throws -> Int64 {
  guard let text = environment["SOURCE_DATE_EPOCH"] else { return 0 }
  guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let date = Int64(text) else {
    throw Failure(
      .usage, "SOURCE_DATE_EPOCH: '\(escaped(text))' is not a date",
      remedy: "set it to a number of seconds since 1970, or unset it")
  }
  return date
}
