#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns the free space on the disk of a folder for processes of this user, in bytes; `nil` if unknown.
public func freeByteCountOnDisk(_ folder: FilePath) -> Int? {
  var status = statvfs()
  guard folder.withPlatformString({ statvfs($0, &status) }) == 0 else { return nil }
  let (count, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
  return overflows ? .max : Int(clamping: count)
}
