#if Hosting
  import ArgumentParser
  import PackHosting

  struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "key", abstract: "Create and revoke keys that sign API tokens.",
      subcommands: [Create.self, RevokeCommand.self])

    struct Create: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a key for ES256 tokens.",
        discussion: """
          The file contains the private key; the host keeps the public key only. With '--user' the key belongs to a \
          person, who can approve submissions.
          """)

      @Argument(help: "New file for the private key.", completion: .file())
      var file: String

      @Option(help: "Name for people.")
      var name = "key"

      @Option(help: "Role of the key; repeatable.")
      var role: [String] = ["APP_MANAGER"]

      @Option(help: "E-mail address of the owner (default: a key of the team).")
      var user: String?

      @Option(help: "Team; created if it does not exist.")
      var team = "Default"

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func run() async throws {
        let key = try await data.administration().createKey(
          name: name, roles: role, email: user, team: team, file: file)
        try output.write(key, ["key id  \(key.id)", "issuer  \(key.issuer)", "file    \(key.file)"])
      }
    }
  }

  struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "token", abstract: "Create and revoke tokens for build jobs.",
      subcommands: [Create.self, RevokeCommand.self])

    struct Create: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a token. It is shown once.",
        discussion: "Build jobs can upload and submit; they cannot approve.")

      @Argument(help: "Name for people.")
      var name: String

      @Option(help: "Role of the token; repeatable.")
      var role: [String] = ["DEVELOPER"]

      @Option(help: "Id or bundle id of the only app that the token may use (default: all apps of the team).")
      var app: String?

      @Option(help: "Team; created if it does not exist.")
      var team = "Default"

      @Option(help: "Validity from now in days (default: no end).")
      var days: Int?

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func validate() throws {
        guard (1...36_500).contains(days ?? 1) else {
          throw ValidationError("--days: not in 1 to 36500; use another number")
        }
      }

      func run() async throws {
        let token = try await data.administration().createToken(
          name: name, roles: role, app: app, team: team, days: days)
        try output.write(token, ["id     \(token.id)", "token  \(token.token)"])
      }
    }
  }

  struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Revoke a key or a token.")

    @Argument(help: "Id of the key or token.")
    var id: String

    @OptionGroup var data: DataOption

    func run() async throws {
      guard try await data.administration().revoke(id) else {
        throw ValidationError("'\(id)': not the id of a valid key or token; check the id")
      }
      print("revoked")
    }
  }
#endif
