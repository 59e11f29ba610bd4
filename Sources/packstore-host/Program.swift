import ArgumentParser

#if Hosting
  import PackHosting
#endif

@main
struct Program: AsyncParsableCommand {
  #if Hosting
    static let configuration = CommandConfiguration(
      commandName: "packstore-host", abstract: "Host asset packs for several teams, with the API of App Store Connect.",
      subcommands: [
        ServeCommand.self, AppCommand.self, DelegationCommand.self, KeyCommand.self, TokenCommand.self,
        RolloutCommand.self, RootCommand.self, ReconcileCommand.self,
        DoctorCommand.self, RestoredCommand.self, WorkerCommand.self,
      ])

    static func main() async {
      do { try WorkerProgram.confine(CommandLine.arguments) } catch { exit(withError: error) }
      await main(nil)
    }
  #else
    static let configuration = CommandConfiguration(
      commandName: "packstore-host", abstract: "Host asset packs for several teams, with the API of App Store Connect.")

    func run() throws {
      throw ValidationError("packstore-host: built without the trait Hosting; build with '--traits default,Hosting'")
    }
  #endif
}
