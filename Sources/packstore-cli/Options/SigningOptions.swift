import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

/// Options for a secret key that is not on this machine. The file of the key then has its public half and its delegation.
struct SigningOptions: ParsableArguments {
  @Option(
    help: .init(
      """
      Command that signs for the key: it gets the bytes to sign on standard input, and prints the signature as 64 bytes, base64 or \
      hexadecimal digits.
      """, valueName: "command"))
  var signCommand: String?

  @Option(
    help: .init(
      """
      File for the bytes to sign on another machine; the command then ends. Repeat it with --signature.
      """, valueName: "file"), completion: .file())
  var signRequest: String?

  @Option(
    help: .init("File with the signature of the bytes in --sign-request.", valueName: "file"), completion: .file())
  var signature: String?

  func validate() throws {
    guard signCommand == nil || signRequest == nil else {
      throw ValidationError("--sign-command and --sign-request exclude each other")
    }
    guard signature == nil || signRequest != nil else {
      throw ValidationError("--signature needs the file of --sign-request")
    }
  }

  /// Returns the signer of a key; `nil` without options.
  func signer(of key: SitePublicKey) throws -> (any RootSigner)? {
    if let signCommand { return CommandSigner(key, command: signCommand) }
    return try signRequest.map {
      try SigningRequest(key, file: FilePath($0), signature: signature.map { FilePath($0) })
    }
  }

  /// Returns the key with its signer.
  ///
  /// - Parameter isDryRun: whether nothing is published. A command then signs a draft, and a request is not written.
  /// - Throws: ``Failure`` `noKey` if the key's file lacks the secret half, and no option is set.
  func complete(_ key: SiteKey, isDryRun: Bool = false) throws -> SiteKey {
    guard !isDryRun || signCommand != nil else { return key }
    guard let signer = try signer(of: key.publicKey) else {
      guard key.canSign else {
        throw Failure(
          .noKey, "the file of the key \(key.publicKey) does not contain its secret half",
          remedy: "add --sign-command or --sign-request, or name the file with the secret half with --key")
      }
      return key
    }
    return try key.signed(by: signer)
  }
}
