#if Serving
  import Crypto
  public import PackStore
  import SwiftASN1
  import X509

  /// A certificate authority of this user and machine, which devices trust in order to connect to the development server.
  ///
  /// It is created on first use and never installed: the user adds its certificate to devices. Its key is of limited use to an
  /// attacker: it is valid only for servers with names and addresses of this machine (critical name constraints), cannot sign
  /// further authorities, and expires after a year. The authority is replaced if it expires within 30 days, or if the server needs
  /// a name that it does not permit. Devices must then trust the new authority.
  public struct LocalAuthority: Sendable {
    /// The file of the certificate in PEM, which devices must trust.
    public let file: FilePath

    /// The certificate in PEM.
    public let certificateText: String

    /// Whether the authority was just created, so that no device trusts it yet.
    public let isNew: Bool

    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    private static let certificateName = "authority.pem"
    private static let keyName = "authority.key"
    private static let byteCountLimit = 64 << 10
    static let lifetime: TimeInterval = 365 * 86_400
    static let renewalTime: TimeInterval = 30 * 86_400

    /// Opens the authority in a folder, and creates it if necessary.
    ///
    /// - Parameters:
    ///   - more: names and addresses that the authority must permit, in addition to `localhost`.
    /// - Throws: `untrusted` if others can read its key; `corrupt`, `ioError`.
    public init(in folder: FilePath, names more: [String] = []) throws {
      try self.init(in: folder, for: MachineNames(more: more), required: more, now: Date())
    }

    init(in folder: FilePath, for names: MachineNames, required: [String], now: Date) throws {
      try makeFolder(folder, isSecret: true)
      let lock = try FileLock(
        FilePlace("authority.lock", in: folder), waits: true, reason: "another process is creating the authority")
      defer { withExtendedLifetime(lock) {} }
      let needed = MachineNames(names: ["localhost"], addresses: []).adding(required)
      if let present = try Self.read(in: folder), present.covers(needed),
        present.certificate.notValidAfter.timeIntervalSince(now) > Self.renewalTime
      {
        self = present
        return
      }
      self = try Self.make(in: folder, for: names, now: now)
    }

    private init(file: FilePath, text: String, isNew: Bool, certificate: Certificate, key: P256.Signing.PrivateKey) {
      self.file = file
      certificateText = text
      self.isNew = isNew
      self.certificate = certificate
      self.key = key
    }

    /// Reads the authority in a folder. Returns `nil` if no authority exists.
    private static func read(in folder: FilePath) throws -> LocalAuthority? {
      let keyFile: InputFile
      do { keyFile = try InputFile(keyName, in: folder) } catch let error as PackStoreError
        where error.code == .notFound
      {
        return nil
      }
      guard try !keyFile.isOpenToOthers else {
        var error = PackStoreError(.untrusted, "other users can read the authority's key", file: keyFile.place.text)
        error.specificRemedy =
          "delete it, remove '\(folder.appending(certificateName))' from all devices, and start again"
        throw error
      }
      let file = folder.appending(certificateName)
      do {
        let keyText = String(decoding: try keyFile.contents(limit: byteCountLimit), as: UTF8.self)
        let text = String(
          decoding: try InputFile(certificateName, in: folder).contents(limit: byteCountLimit), as: UTF8.self)
        let key = try P256.Signing.PrivateKey(pemRepresentation: keyText)
        let certificate = try Certificate(pemEncoded: text)
        // A key and a certificate that do not match were written by a process that ended in between.
        guard certificate.publicKey == .init(key.publicKey) else { return nil }
        return LocalAuthority(file: file, text: text, isNew: false, certificate: certificate, key: key)
      } catch let error as PackStoreError where error.code == .notFound {
        return nil
      } catch let error as PackStoreError {
        throw error
      } catch {
        throw PackStoreError(
          .corrupt, "the server's authority is damaged; delete the file, start again and trust the new authority",
          file: keyFile.place.text)
      }
    }

    private static func make(in folder: FilePath, for names: MachineNames, now: Date) throws -> LocalAuthority {
      let key = P256.Signing.PrivateKey()
      let name = try DistinguishedName {
        OrganizationName("PackStore")
        CommonName("PackStore development server of \(names.names.dropFirst().first ?? "this machine")")
      }
      let publicKey = Certificate.PublicKey(key.publicKey)
      let certificate = try Certificate(
        version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: now.addingTimeInterval(-3600),
        notValidAfter: now.addingTimeInterval(lifetime), issuer: name, subject: name,
        extensions: try Certificate.Extensions {
          Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
          Critical(KeyUsage(keyCertSign: true))
          try ExtendedKeyUsage([.serverAuth])
          Critical(
            NameConstraints(
              permittedDNSDomains: names.names, permittedIPRanges: names.addresses.map(Self.range)))
          SubjectKeyIdentifier(hash: publicKey)
        }, issuerPrivateKey: .init(key))
      let text = try certificate.serializeAsPEM().pemString + "\n"
      // The certificate is written last: it completes the authority.
      try write(Array(key.pemRepresentation.utf8), keyName, in: folder, isSecret: true)
      try write(Array(text.utf8), certificateName, in: folder, isSecret: false)
      return LocalAuthority(
        file: folder.appending(certificateName), text: text, isNew: true, certificate: certificate, key: key)
    }

    private static func write(_ bytes: [UInt8], _ name: String, in folder: FilePath, isSecret: Bool) throws {
      let draft = try NewFile(FilePlace("\(name).new", in: folder), isSecret: isSecret)
      try draft.write(bytes)
      try draft.sync()
      try renameFile(draft.place, to: FilePlace(name, in: folder))
      try syncFolder(folder)
    }

    /// Returns an address and a mask. All of 127.0.0.0/8 is this machine.
    private static func range(_ address: [UInt8]) -> ASN1OctetString {
      if address.count == 4, address[0] == 127 { return ASN1OctetString(contentBytes: [127, 0, 0, 0, 255, 0, 0, 0]) }
      return ASN1OctetString(contentBytes: (address + [UInt8](repeating: 255, count: address.count))[...])
    }

    /// Returns whether the authority permits all names and addresses.
    func covers(_ names: MachineNames) -> Bool { covered(names) == names }

    /// Returns the permitted names and addresses.
    func covered(_ names: MachineNames) -> MachineNames {
      guard let constraints = try? certificate.extensions.nameConstraints else {
        return MachineNames(names: [], addresses: [])
      }
      let domains = Array(constraints.permittedDNSDomains)
      let ranges = constraints.permittedIPRanges.map { Array($0.bytes) }
      return MachineNames(
        names: names.names.filter { name in domains.contains { name == $0 || name.hasSuffix(".\($0)") } },
        addresses: names.addresses.filter { address in
          ranges.contains { range in
            range.count == 2 * address.count
              && zip(address, zip(range, range.dropFirst(address.count))).allSatisfy { $0 & $1.1 == $1.0 }
          }
        })
    }

    // MARK: - Certificates of servers

    static let leafLifetime: TimeInterval = 30 * 86_400

    /// Returns a certificate for a server of this machine.
    ///
    /// - Parameter hasAddresses: whether the certificate includes addresses. Clients that cannot check name constraints of
    ///   addresses, such as BoringSSL, reject such a certificate. Clients that connect by name therefore receive a certificate
    ///   without addresses.
    func leaf(for names: MachineNames, hasAddresses: Bool, key: P256.Signing.PrivateKey, now: Date) throws -> [UInt8] {
      let covered = covered(names)
      let alternatives =
        covered.names.map { GeneralName.dnsName($0) }
        + (hasAddresses ? covered.addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) } : [])
      let end = min(now.addingTimeInterval(Self.leafLifetime), self.certificate.notValidAfter)
      let identifier = try certificate.extensions.subjectKeyIdentifier
      let leaf = try Certificate(
        version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
        notValidBefore: now.addingTimeInterval(-3600), notValidAfter: end, issuer: certificate.subject,
        subject: try DistinguishedName { CommonName("PackStore development server") },
        extensions: try Certificate.Extensions {
          Critical(BasicConstraints.notCertificateAuthority)
          Critical(KeyUsage(digitalSignature: true))
          try ExtendedKeyUsage([.serverAuth])
          SubjectAlternativeNames(alternatives)
          SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
          if let identifier { AuthorityKeyIdentifier(keyIdentifier: identifier.keyIdentifier) }
        }, issuerPrivateKey: .init(self.key))
      var serializer = DER.Serializer()
      try serializer.serialize(leaf)
      return serializer.serializedBytes
    }
  }
#endif
