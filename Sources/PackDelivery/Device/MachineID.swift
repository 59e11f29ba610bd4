#if os(macOS)
  import Darwin
  import PackStore

  /// Returns the UUID of the host; empty if it has none.
  func machineID() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    var patience = timespec(tv_sec: 1, tv_nsec: 0)
    guard gethostuuid(&bytes, &patience) == 0 else { return "" }
    return ID128(copying: bytes).hex
  }
#else
  import PackStore

  private let machineFiles: [FilePath] = ["/etc/machine-id", "/var/lib/dbus/machine-id"]

  /// Returns the machine's id as in machine-id(5); empty if the file does not exist, as in many containers.
  func machineID() -> String { machineID(from: machineFiles) }

  package func machineID(from files: [FilePath]) -> String {
    for file in files {
      guard let bytes = try? InputFile(file).bytes(upTo: 4096) else { continue }
      let id = bytes.filter { !" \t\r\n".utf8.contains($0) }
      // `uninitialized` is the same on all machines that were never started.
      if !id.isEmpty, !id.elementsEqual("uninitialized".utf8) { return String(decoding: id, as: UTF8.self) }
    }
    return ""
  }
#endif
