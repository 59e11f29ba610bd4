#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of a process in bytes: the pages that it has written to, the shared memory that it has mapped, and the files in memory
/// that it has open for writing, as a file in memory need not be mapped. Pages of files on disks do not count: the system can
/// drop them.
///
/// Memory that several processes share counts for each of them. `nil` if the process has ended, or the system does not report it.
package func processMemory(_ number: pid_t) -> Int? {
  #if os(Linux)
    guard let file = try? InputFile("status", in: FilePath("/proc/\(number)")),
      let text = try? file.contents(limit: 1 << 16)
    else { return nil }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    guard let own = memoryLine("RssAnon:", in: lines) else { return nil }
    // Mapped and open is the same memory, in most cases.
    return own.addingClamped(max(memoryLine("RssShmem:", in: lines) ?? 0, memoryFileByteCount(ofProcess: number)))
  #else
    return nil
  #endif
}

#if os(Linux)
  private func memoryLine(_ name: String, in lines: [Substring]) -> Int? {
    let words = lines.first { $0.hasPrefix(name) }?.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard let count = words.flatMap({ $0.count == 3 ? Int($0[1]) : nil }) else { return nil }
    let (bytes, overflows) = count.multipliedReportingOverflow(by: 1024)
    return overflows ? nil : bytes
  }

  private struct InodeName: Hashable {
    let device: UInt64
    let number: UInt64

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// The bytes of files in memory that a process has open for writing: of `memfd_create`, `shm_open` and `tmpfs`, deleted or not.
  private func memoryFileByteCount(ofProcess number: pid_t) -> Int {
    let folder = "/proc/\(number)/fd"
    var seen: Set<InodeName> = []
    var status = stat()
    // The programs of the agent share its output.
    if fstat(2, &status) == 0 { seen.insert(InodeName(status)) }
    var byteCount = 0
    for name in (try? namesInFolder(FilePath(folder))) ?? [] {
      let path = "\(folder)/\(name)"
      guard lstat(path, &status) == 0, status.st_mode & S_IWUSR != 0, stat(path, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG, isInMemory(path, status), seen.insert(InodeName(status)).inserted
      else { continue }
      let (bytes, overflows) = Int(clamping: status.st_blocks).multipliedReportingOverflow(by: 512)
      byteCount = byteCount.addingClamped(overflows ? .max : max(bytes, 0))
    }
    return byteCount
  }

  private func isInMemory(_ path: String, _ status: stat) -> Bool {
    if memoryDevices.contains(UInt64(truncatingIfNeeded: status.st_dev)) { return true }
    var name = [CChar](repeating: 0, count: memoryFilePrefix.utf8.count)
    let count = readlink(path, &name, name.count)
    return count == name.count && memoryFilePrefix.utf8.elementsEqual(name.map { UInt8(bitPattern: $0) })
  }

  /// The system calls files of `memfd_create` so. They are of no mounted file system.
  private let memoryFilePrefix = "/memfd:"

  /// The numbers of the file systems in memory that are mounted.
  private let memoryDevices: Set<UInt64> = {
    guard let file = try? InputFile("mountinfo", in: FilePath("/proc/self")),
      let text = try? file.contents(limit: 1 << 20)
    else { return [] }
    let devices = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line -> UInt64? in
      // 36 35 0:25 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw
      let words = line.split(separator: " ")
      guard let dash = words.firstIndex(of: "-"), dash + 1 < words.count, words[dash + 1] == "tmpfs", words.count > 2
      else { return nil }
      let numbers = words[2].split(separator: ":").compactMap { UInt64($0) }
      guard numbers.count == 2 else { return nil }
      return (numbers[0] & 0xfff) << 8 | (numbers[0] & ~0xfff) << 32 | numbers[1] & 0xff | (numbers[1] & ~0xff) << 12
    }
    return Set(devices)
  }()
#endif
