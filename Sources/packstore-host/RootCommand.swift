#if Hosting
  import ArgumentParser
  import Foundation
  import PackHosting

  struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "root", abstract: "Sign the roots of the store on another machine.",
      discussion: """
        For apps that were created with '--offline'. The host cannot sign offers for the store: each change waits as a request, \
        which the owner of the key signs.
        """,
      subcommands: [Request.self, Sign.self, Import.self])

    struct Request: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Write the request for the newest root of an app.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @OptionGroup var data: DataOption

      func run() async throws { print(try await data.existingAdministration().rootRequest(app: app), terminator: "") }
    }

    struct Sign: ParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Show the change in a request, and sign it where the key is.",
        discussion: """
          Needs no host and no network. The note records the signed roots: a request with lower numbers is refused, because it \
          would take devices back. Keep the note with the key.
          """)

      @Argument(help: "File with the request.", completion: .file())
      var request: String

      @Argument(help: "File with the root key, or with a release key for the channel.", completion: .file())
      var key: String

      @Option(help: "File that records the signed roots (default: the key's file with '.note').", completion: .file())
      var note: String?

      @Flag(name: .shortAndLong, help: "Sign without a question.")
      var yes = false

      func run() throws {
        let text = try String(contentsOfFile: request, encoding: .utf8)
        let lines = try Administration.difference(ofRootRequest: text)
        try FileHandle.standardError.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        if !yes {
          try FileHandle.standardError.write(contentsOf: Data("Sign it? (yes/no) ".utf8))
          guard readLine() == "yes" else { throw ExitCode(1) }
        }
        print(try Administration.signRoot(request: text, key: key, note: note ?? key + ".note"), terminator: "")
      }
    }

    struct Import: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Accept a signed root, which the service then publishes.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @Argument(help: "File with the signed root.", completion: .file())
      var answer: String

      @OptionGroup var data: DataOption

      func run() async throws {
        let text = try String(contentsOfFile: answer, encoding: .utf8)
        try await data.existingAdministration().importRoot(app: app, answer: text)
      }
    }
  }
#endif
