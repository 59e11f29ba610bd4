/// A byte range of a file that a process has locked.
struct LockHolder {
  let process: Int
  let range: ClosedRange<UInt64>
}

/// Returns the processes that have locked bytes of a file. Linux reports them for processes of this user, in
/// `/proc/<process>/fdinfo`; otherwise the result is empty.
func lockHolders(of name: String, in folder: FilePath) -> [LockHolder] {
  #if os(Linux)
    guard let inode = try? InputFile(name, in: folder).inode else { return [] }
    let processes = (try? namesInFolder("/proc"))?.compactMap { Int($0) } ?? []
    return processes.flatMap { process in
      let descriptors = FilePath("/proc/\(process)/fdinfo")
      return ((try? namesInFolder(descriptors)) ?? []).flatMap { name -> [LockHolder] in
        guard let text = try? InputFile(name, in: descriptors).contents(limit: 1 << 20) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
          .compactMap { lockedRange(line: $0, inode: inode) }.map { LockHolder(process: process, range: $0) }
      }
    }
  #else
    return []
  #endif
}

/// Parses a line such as `lock:  1: OFDLCK  ADVISORY  READ -1 fd:01:1234 7 7`.
func lockedRange(line: Substring, inode: UInt64) -> ClosedRange<UInt64>? {
  guard line.hasPrefix("lock:") else { return nil }
  let fields = line.split { $0 == " " || $0 == "\t" }
  guard fields.count >= 9, fields[2] == "OFDLCK", fields[6].split(separator: ":").last.flatMap({ UInt64($0) }) == inode,
    let first = UInt64(fields[7])
  else { return nil }
  let last = UInt64(fields[8]) ?? .max  // "EOF"
  return first <= last ? first...last : nil
}
