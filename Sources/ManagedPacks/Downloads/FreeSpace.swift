#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many bytes a process of this user can still write to the disk of a folder; nil where the system does not say.
public func freeByteCountOnDisk(_ folder: FilePath) -> Int? {
  var status = statvfs()
  guard folder.withPlatformString({ statvfs($0, &status) }) == 0 else { return nil }
  let (count, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
  return overflows ? .max : Int(clamping: count)
}
