extension Report {
  /// The report as a page.
  var html: String { markdown }
}
