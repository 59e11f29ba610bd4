#if Hosting
  import ArgumentParser
  import PackHosting

  struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "app", abstract: "Create and list apps.",
      subcommands: [Create.self, List.self, ReplaceChannel.self, Approvals.self, Mail.self])

    struct Create: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an app with a site, a store and a release key of its own.",
        discussion: """
          The app publishes nothing until the owner of its root key has delegated to its release key:

            packstore-host delegation request APP --data DIR > request.json
            packstore-host delegation answer request.json root.key > answer
            packstore-host delegation import APP answer --data DIR
          """)

      @Argument(help: "Bundle id, such as com.example.city.")
      var bundleID: String

      @Option(help: "Name for people (default: the bundle id).")
      var name: String?

      @Option(help: "SKU (default: the bundle id).")
      var sku: String?

      @Option(help: "Team; created if it does not exist.")
      var team = "Default"

      @Option(help: "People who must approve a submission for the store: 0, 1 or 2.")
      var approvals = 0

      @Option(help: "People who must approve a version for external testers: 0 or 1.")
      var betaApprovals = 0

      @Flag(help: "Sign the roots of the store on another machine: 'packstore-host root'.")
      var offline = false

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func run() async throws {
        let app = try await data.administration().createApp(
          name: name ?? bundleID, bundleID: bundleID, sku: sku, team: team, storeApprovals: approvals,
          externalApprovals: betaApprovals, signsOffline: offline)
        try output.write(app, app.lines)
      }
    }

    struct Approvals: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "Set how many people must approve submissions.",
        discussion: "Approvers of the store are different people, who neither submitted nor uploaded.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @Option(help: "People for the store: 0, 1 or 2 (default: unchanged).")
      var store: Int?

      @Option(help: "People for external testers: 0 or 1 (default: unchanged).")
      var external: Int?

      @OptionGroup var data: DataOption

      func run() async throws {
        try await data.administration().setApprovals(app: app, store: store, external: external)
      }
    }

    struct Mail: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "mail",
        abstract: "Set who receives mails about an app, and list the recipients.",
        discussion: """
          Mails report versions that are ready or failed, approved submissions, and an app that uses 80 % of its space. The \
          service needs '--smtp'.
          """)

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @Option(help: "Address to add; repeatable.")
      var add: [String] = []

      @Option(help: "Address to remove; repeatable.")
      var remove: [String] = []

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func run() async throws {
        let recipients = try await data.existingAdministration().changeMailRecipients(
          app: app, adding: add, removing: remove)
        try output.write(recipients, recipients.isEmpty ? ["no recipients"] : recipients)
      }
    }

    struct ReplaceChannel: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "replace-channel",
        abstract: "Replace the secret name of a testers' channel.",
        discussion: "The old channel is closed: its devices keep their versions. Give the new name to the testers.")

      @Argument(help: "Id or bundle id of the app.")
      var app: String

      @Flag(help: "Replace the name of the external channel instead of the internal one.")
      var external = false

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func run() async throws {
        let app = try await data.administration().replaceChannel(app: app, isInternal: !external)
        try output.write(app, app.lines)
      }
    }

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List apps with their channels and sites.")

      @OptionGroup var data: DataOption
      @OptionGroup var output: JSONOption

      func run() async throws {
        let apps = try await data.existingAdministration().apps()
        try output.write(apps, apps.isEmpty ? ["no apps"] : apps.flatMap(\.lines))
      }
    }
  }

  extension Administration.App {
    var lines: [String] {
      [
        "\(bundleID)", "  id        \(id)", "  team      \(team)", "  site      \(site)",
        "  internal  \(internalChannel)", "  external  \(externalChannel)",
        "  state     \(publishes ? "publishes" : "waits for a delegation")",
      ] + alarms.map { "  alarm     \($0)" }
    }
  }
#endif
