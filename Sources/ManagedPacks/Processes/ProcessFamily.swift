#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program started in a session of its own, and its descendants: the processes of its session and group, and all their children,
/// in any session. A process that left the session and whose parent has ended no longer belongs to it.
///
/// If the system does not list processes, it consists of the program only.
struct ProcessFamily {
  let leader: pid_t

  /// The running processes.
  var members: Set<pid_t> {
    var members: Set<pid_t> = [leader]
    let rows = Self.processes()
    var count = 0
    while count < members.count {
      count = members.count
      for row in rows where row.session == leader || row.group == leader || members.contains(row.parent) {
        members.insert(row.number)
      }
    }
    return members
  }

  /// The memory of all members in bytes; `nil` if the system does not report it.
  var byteCount: Int? {
    let counts = members.compactMap { processMemory($0) }
    return counts.isEmpty ? nil : counts.reduce(0) { $0.addingClamped($1) }
  }

  /// Kills all members. The leader must not be reaped yet, so that its process id is still valid.
  func kill() {
    // Listed first: once the leader has ended, the descent of its children is unknown.
    let members = members
    signal(-leader)
    for member in members { signal(member) }
  }

  private func signal(_ number: pid_t) {
    #if canImport(Glibc)
      _ = Glibc.kill(number, SIGKILL)
    #elseif canImport(Musl)
      _ = Musl.kill(number, SIGKILL)
    #elseif canImport(Darwin)
      _ = Darwin.kill(number, SIGKILL)
    #endif
  }

  private struct Row {
    let number, parent, group, session: pid_t
  }

  private static func processes() -> [Row] {
    #if os(Linux)
      let numbers = (try? namesInFolder("/proc"))?.compactMap { pid_t($0) } ?? []
      return numbers.compactMap { number in
        guard let file = try? InputFile("stat", in: FilePath("/proc/\(number)")),
          let bytes = try? file.contents(limit: 4096), let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // The preceding part is the program's name, which may contain any characters.
        let words = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        let values = words.dropFirst().prefix(3).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
        return values.count == 3 ? Row(number: number, parent: values[0], group: values[1], session: values[2]) : nil
      }
    #else
      return []
    #endif
  }
}
