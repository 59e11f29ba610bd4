import BackgroundAssets
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a person does.
enum Key: Hashable, Sendable {
  case up, down, left, right, enter, back, quit
  case character(Character)

  /// Takes apart what came at once from a terminal.
  static func keys(in bytes: some Collection<UInt8>) -> [Key] {
    var keys: [Key] = []
    var rest = Array(bytes)[...]
    while let first = rest.first {
      if first == 0x1b, rest.count >= 3, [UInt8(ascii: "["), UInt8(ascii: "O")].contains(rest[rest.startIndex + 1]) {
        rest = rest.dropFirst(2)
        // Parameters, then one byte that says which key.
        while let byte = rest.first, (0x20..<0x40).contains(byte) { rest = rest.dropFirst() }
        switch rest.popFirst() {
        case UInt8(ascii: "A"): keys.append(.up)
        case UInt8(ascii: "B"): keys.append(.down)
        case UInt8(ascii: "C"): keys.append(.right)
        case UInt8(ascii: "D"): keys.append(.left)
        default: break
        }
        continue
      }
      rest = rest.dropFirst()
      switch first {
      case 0x1b, 0x7f: keys.append(.back)
      case 0x03, 0x04: keys.append(.quit)
      case 0x0d, 0x0a: keys.append(.enter)
      case 0x20..<0x7f: keys.append(.character(Character(Unicode.Scalar(first))))
      default: break
      }
    }
    return keys
  }
}

/// The terminal that a person sits at: each key comes at once, and the screen is ours until the program ends.
final class Terminal {
  private var settings = termios()
  private var sources: [any DispatchSourceProtocol] = []
  private let depth = ColorDepth(ProcessInfo.processInfo.environment)
  private var shown: Canvas?

  static var isThere: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  enum Event: Sendable {
    case key(Key)
    case resized
  }

  /// - Parameter take: called on the main queue.
  init(_ take: @escaping @Sendable (Event) -> Void) {
    tcgetattr(STDIN_FILENO, &settings)
    var raw = settings
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    // Another screen, without a cursor.
    write("\u{1b}[?1049h\u{1b}[?25l")
    let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    keys.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      for key in count > 0 ? Key.keys(in: bytes[..<count]) : [.quit] { take(.key(key)) }
    }
    on(SIGWINCH) { take(.resized) }
    for ending in [SIGTERM, SIGHUP, SIGINT] { on(ending) { take(.key(.quit)) } }
    sources.append(keys)
    for source in sources { source.activate() }
  }

  private func on(_ number: CInt, _ body: @escaping @Sendable () -> Void) {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler { body() }
    sources.append(source)
  }

  /// Gives the terminal back as it was.
  func close() {
    for source in sources { source.cancel() }
    write("\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
  }

  var colorDepth: ColorDepth { depth }

  /// An empty canvas that fills the screen.
  var canvas: Canvas {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return Canvas(columns: 80, rows: 24)
    }
    return Canvas(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  func show(_ canvas: Canvas) {
    write(canvas.escapes(since: shown, depth))
    shown = canvas
  }

  private func write(_ text: String) { _ = try? FileDescriptor.standardOutput.writeAll(text.utf8) }
}
