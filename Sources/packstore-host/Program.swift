import ArgumentParser

#if Hosting
  import PackHosting
#endif

@main
struct Program: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-host", abstract: "Host asset packs for several teams, with the API of App Store Connect.")

  #if !Hosting
    func run() throws {
      throw ValidationError("packstore-host: built without the trait Hosting; build with '--traits default,Hosting'")
    }
  #endif
}
