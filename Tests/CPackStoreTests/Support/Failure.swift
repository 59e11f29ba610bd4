import CPackStore
import Testing

/// An error of the core.
struct Failure: Error, CustomStringConvertible {
  var status: pks_status
  var text: String
  var file: String
  var offset: UInt64?
  var system: Int32
  var needed: UInt64
  var limit: UInt64 = 0
  var subject = PKS_SUBJECT_NONE
  var detail = PKS_DETAIL_NONE

  var description: String {
    "\(String(cString: pks_status_name(status))): \(text) \(file)" + (system == 0 ? "" : " (errno \(system))")
  }
}

/// Calls the core and throws what it reports.
func attempt(_ call: (UnsafeMutablePointer<pks_error>) -> pks_status) throws {
  var error = pks_error()
  let status = call(&error)
  guard status != PKS_OK else { return }
  let file = withUnsafeBytes(of: error.file) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  throw Failure(
    status: status, text: error.text.map { String(cString: $0) } ?? "", file: file,
    offset: error.offset == UInt64.max ? nil : error.offset, system: error.system_error, needed: error.needed,
    limit: error.limit, subject: error.subject, detail: error.detail)
}

/// Calls the core for something that it opens.
func opened(
  _ call: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<pks_error>) -> pks_status
) throws -> OpaquePointer {
  var pointer: OpaquePointer?
  try attempt { call(&pointer, $0) }
  return try #require(pointer)
}

/// The error of a call that has to fail.
func thrown(_ body: () throws -> Void) throws -> Failure {
  do {
    try body()
  } catch let failure as Failure {
    return failure
  }
  throw NothingFailed()
}

private struct NothingFailed: Error {}

/// The status of a call: PKS_OK when nothing was thrown. Errors that are not the core's pass through.
func status(_ body: () throws -> Void) throws -> pks_status {
  do {
    try body()
    return PKS_OK
  } catch let failure as Failure {
    return failure.status
  }
}
