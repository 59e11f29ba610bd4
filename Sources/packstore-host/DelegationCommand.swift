#if Hosting
  import ArgumentParser
  import Foundation
  import PackHosting

  struct DelegationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delegation", abstract: "Authorize release keys of apps with a root key.",
      discussion: "The host never has a root key: the request goes to its owner, and the answer comes back.",
      subcommands: [Request.self, Answer.self, Import.self])

    struct Request: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Write the delegation request of an app.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @OptionGroup var data: DataOption

      func run() async throws { print(try await data.administration().delegationRequest(app: app), terminator: "") }
    }

    struct Answer: ParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answer a delegation request, where the root key is.",
        discussion: "Needs no host and no network. Create a root key with 'packstore keygen'.")

      @Argument(help: "File with the request.", completion: .file())
      var request: String

      @Argument(help: "File with the root key.", completion: .file())
      var rootKey: String

      @Option(help: "Validity of the release key from now, in days.")
      var days = 400

      func validate() throws {
        guard (1...36_500).contains(days) else {
          throw ValidationError("--days: not in 1 to 36500; use another number")
        }
      }

      func run() throws {
        let text = try String(contentsOfFile: request, encoding: .utf8)
        print(try Administration.answer(request: text, rootKey: rootKey, days: days), terminator: "")
      }
    }

    struct Import: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Accept the answer to a delegation request.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @Argument(help: "File with the answer.", completion: .file())
      var answer: String

      @OptionGroup var data: DataOption

      func run() async throws {
        let text = try String(contentsOfFile: answer, encoding: .utf8)
        print("root key \(try await data.administration().importDelegation(app: app, answer: text))")
      }
    }
  }
#endif
