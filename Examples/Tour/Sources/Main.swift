import BackgroundAssets

/// A tour through caves and portraits of files, which come as packs: see the README of this folder.
@main struct Tour {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments {
    case []: await exit(Terminal.isThere ? Show(Guide()).run() : Script(Guide()).run(standardInput()))
    case ["--unattended"]: await exit(Script(Guide()).run(stream(Script.whole)))
    default:
      say("usage: tour [--unattended]\n\nWithout a terminal, it takes commands, one a line:\n\n\(Script.help)")
      exit(["--help", "-h"].contains(arguments.first) && arguments.count == 1)
    }
  }

  private static func exit(_ isFine: Bool) -> Never { Foundation.exit(isFine ? 0 : 1) }

  private static func stream(_ lines: [String]) -> AsyncStream<String> {
    AsyncStream { feed in
      for line in lines { feed.yield(line) }
      feed.finish()
    }
  }

  /// The lines of standard input, read by a thread of their own: it may be a pipe that stays silent.
  private static func standardInput() -> AsyncStream<String> {
    AsyncStream { feed in
      Thread.detachNewThread {
        while let line = readLine() { feed.yield(line) }
        feed.finish()
      }
    }
  }
}
