#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that was started in a session of its own, and what it has started: all that is in the session or the group, and what
/// these have started, wherever that is. What left the session and whose parent has ended belongs to it no more.
///
/// Where the system does not list processes, it is the program alone.
struct ProcessFamily {
  let leader: pid_t

  /// Those that run.
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

  /// Memory that is their own, in bytes; nil: the system does not say.
  var privateByteCount: Int? {
    let counts = members.compactMap { privateMemory(ofProcess: $0) }
    return counts.isEmpty ? nil : counts.reduce(0) { $0.addingClamped($1) }
  }

  /// Kills all of them. The number must still be the leader's: it is not reaped yet.
  func kill() {
    // Once the leader has ended, who began what is not known any more.
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
        // What is before is the program's name, which may be anything.
        let words = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        let values = words.dropFirst().prefix(3).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
        return values.count == 3 ? Row(number: number, parent: values[0], group: values[1], session: values[2]) : nil
      }
    #else
      return []
    #endif
  }
}
