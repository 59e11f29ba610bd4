#if os(macOS)
  import Darwin
  import PackStore

  /// What tells this machine from others: the UUID of the host. Empty where there is none.
  func machineID() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    var patience = timespec(tv_sec: 1, tv_nsec: 0)
    guard gethostuuid(&bytes, &patience) == 0 else { return "" }
    return ID128(copying: bytes).hex
  }
#else
  import PackStore

  private let machineFiles: [FilePath] = ["/etc/machine-id", "/var/lib/dbus/machine-id"]

  /// What tells this machine from others, as machine-id(5) describes it. Empty where there is no such file, as in many
  /// containers.
  func machineID() -> String { machineID(from: machineFiles) }

  package func machineID(from files: [FilePath]) -> String {
    for file in files {
      guard let bytes = try? InputFile(file).bytes(upTo: 4096) else { continue }
      let id = bytes.filter { !" \t\r\n".utf8.contains($0) }
      // A machine that was never started says `uninitialized`, as do all others then.
      if !id.isEmpty, !id.elementsEqual("uninitialized".utf8) { return String(decoding: id, as: UTF8.self) }
    }
    return ""
  }
#endif
