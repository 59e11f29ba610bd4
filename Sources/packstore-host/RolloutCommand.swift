#if Hosting
  import ArgumentParser
  import PackHosting

  struct RolloutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rollout", abstract: "Set the share of devices that get a version.",
      discussion: """
        Before the review, the share is a part of the terms that reviewers approve. While the version is live, a higher \
        share continues the release, and 0% halts it: devices that have the version keep it. Other devices get the last \
        version that was for all devices.

          packstore-host rollout com.example.city City 2 5% --data DIR
          packstore-host rollout com.example.city City 2 100% --data DIR
        """)

    @Argument(help: "Id or bundle id of the app.")
    var app: String

    @Argument(help: "Identifier of the pack.")
    var pack: String

    @Argument(help: "Number of the version.")
    var version: Int64

    @Argument(help: "Percentage, such as 5%.")
    var share: String

    @Flag(help: "Change the release for external testers instead of the store.")
    var external = false

    @OptionGroup var data: DataOption

    func run() async throws {
      try await data.administration().setShare(
        app: app, pack: pack, version: version, isExternal: external, share: share)
    }
  }
#endif
