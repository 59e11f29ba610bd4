#if Serving
  import Crypto
  import NIOCore
  import NIOSSL
  import PackStore
  import SwiftASN1
  import X509

  /// The server's certificate and key: signed by the local authority, or from files of the user.
  struct ServerIdentity: Sendable {
    let configuration: TLSConfiguration

    /// The names for which the certificate is valid.
    let names: [String]

    /// The time to replace the certificate; `nil` for never.
    let renewal: Date?

    /// Creates a certificate signed by the local authority, with a key that is not stored.
    init(by authority: LocalAuthority, for names: MachineNames, now: Date) throws {
      let key = P256.Signing.PrivateKey()
      let privateKey = NIOSSLPrivateKeySource.privateKey(
        try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
      func chain(hasAddresses: Bool) throws -> [NIOSSLCertificateSource] {
        let leaf = try authority.leaf(for: names, hasAddresses: hasAddresses, key: key, now: now)
        return [.certificate(try NIOSSLCertificate(bytes: leaf, format: .der))]
      }
      let byAddress = try chain(hasAddresses: true)
      var configuration = Self.configuration(try chain(hasAddresses: false), privateKey)
      configuration.sslContextCallback = { client, promise in
        // A client that connects by address sends no server name.
        var change = NIOSSLContextConfigurationOverride()
        if client.serverHostname == nil {
          change.certificateChain = byAddress
          change.privateKey = privateKey
        }
        promise.succeed(change)
      }
      self.configuration = configuration
      self.names = authority.covered(names).names
      renewal = now.addingTimeInterval(LocalAuthority.leafLifetime / 2)
    }

    /// Reads a certificate chain and its key from PEM files.
    ///
    /// - Throws: `notFound`, `corrupt` if a file has other content, `invalidArgument` if the key does not match the certificate.
    init(certificate: FilePath, key: FilePath) throws {
      let certificateBytes = try InputFile(certificate).contents(limit: 1 << 20)
      let keyBytes = try InputFile(key).contents(limit: 1 << 20)
      let chain: [NIOSSLCertificate]
      do { chain = try NIOSSLCertificate.fromPEMBytes(certificateBytes) } catch { chain = [] }
      guard let first = chain.first else {
        throw PackStoreError(.corrupt, "does not contain a certificate as PEM", file: certificate.string)
      }
      guard let privateKey = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
        throw PackStoreError(.corrupt, "does not contain a private key as PEM", file: key.string)
      }
      configuration = Self.configuration(chain.map { .certificate($0) }, .privateKey(privateKey))
      do { _ = try NIOSSLContext(configuration: configuration) } catch {
        throw PackStoreError(
          .invalidArgument, "the key does not belong to the certificate '\(certificate)'", file: key.string)
      }
      let leaf = try? Certificate(derEncoded: try first.toDERBytes())
      let alternatives = try? leaf?.extensions.subjectAlternativeNames
      names = (alternatives ?? SubjectAlternativeNames([])).compactMap { name -> String? in
        if case .dnsName(let text) = name { text } else { nil }
      }
      renewal = nil
    }

    private static func configuration(
      _ chain: [NIOSSLCertificateSource], _ key: NIOSSLPrivateKeySource
    ) -> TLSConfiguration {
      var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
      configuration.minimumTLSVersion = .tlsv12
      // At shutdown, all data is in the kernel. Many clients close their socket without a TLS message.
      configuration.shutdownTimeout = .seconds(1)
      return configuration
    }
  }
#endif
