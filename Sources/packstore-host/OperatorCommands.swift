#if Hosting
  import ArgumentParser
  import PackHosting

  struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reconcile", abstract: "Resolve a published root that is not the recorded one.",
      discussion: """
        A restored database or a second publisher causes this. The host then stops to write the channel. Stop the \
        service, then choose:

          --adopt     the published root is right: its versions become live in the records
          --overrule  the records are right: a new root takes the published one back from devices
        """)

    @Argument(help: "Id or bundle id of the app.")
    var app: String

    @Flag(help: "Accept the published roots.")
    var adopt = false

    @Flag(help: "Replace the published roots.")
    var overrule = false

    @OptionGroup var data: DataOption
    @OptionGroup var output: JSONOption

    func validate() throws {
      guard !(adopt && overrule) else { throw ValidationError("--adopt and --overrule: exclude each other; use one") }
    }

    func run() async throws {
      let decision: Administration.Decision? = adopt ? .adopt : overrule ? .overrule : nil
      let app = try await data.administration().reconcile(app: app, decision)
      try output.write(app, app.lines)
      if !app.alarms.isEmpty { throw ExitCode(1) }
    }
  }

  struct RestoredCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "restored", abstract: "Revoke credentials that a restored backup made valid again.",
      discussion: """
        Run it after the data folder or its database was restored from a backup, before 'serve'. Revocations and \
        decisions after the backup are lost, so it revokes all tokens of build jobs, ends all open uploads, and voids \
        pending approvals. Check the keys: revoke each key that was revoked after the backup.
        """)

    @OptionGroup var data: DataOption

    func run() async throws {
      let count = try await data.administration().noteRestore()
      print("revoked tokens: \(count)")
    }
  }

  struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "doctor", abstract: "Show faults that need the operator, and the protection of workers.",
      discussion: "Exits with 1 if the operator must act.")

    @Flag(help: "Run stuck jobs again.")
    var retry = false

    @OptionGroup var data: DataOption
    @OptionGroup var output: JSONOption

    func run() async throws {
      let administration = try data.existingAdministration()
      if retry { _ = try await administration.retryJobs() }
      let findings = try await administration.findings()
      try output.write(findings, findings.map { "\($0.isFault ? "fault" : "ok   ")  \($0.name): \($0.state)" })
      if findings.contains(where: \.isFault) { throw ExitCode(1) }
    }
  }

  /// Started by the service for each archive.
  struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: WorkerProgram.command, abstract: "Check an archive.", shouldDisplay: false)

    @Argument(help: "Archive, output folder, pack and number.")
    var arguments: [String]

    func run() async throws {
      try WorkerProgram.requireConfined()
      try await WorkerProgram.run(arguments)
    }
  }
#endif
