#if Serving
  import Crypto
  import Foundation
  import PackStore
  import SwiftASN1
  import Testing
  import X509

  @testable import PackServing

  @Suite struct AuthorityTests {
    let folder = try! ServedFixture()

    private func authority(
      _ names: [String] = ["localhost", "dev.example"], required: [String] = [], now: Date = Date()
    ) throws -> LocalAuthority {
      try LocalAuthority(
        in: folder.place("state"), for: MachineNames(names: names, addresses: [[127, 0, 0, 1]]), required: required,
        now: now)
    }

    @Test func itIsGoodForLittle() throws {
      let made = try authority()
      #expect(made.isNew)
      let extensions = made.certificate.extensions
      #expect(try extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
      #expect(extensions[oid: .X509ExtensionID.nameConstraints]?.critical == true)
      #expect(extensions[oid: .X509ExtensionID.basicConstraints]?.critical == true)
      #expect(try extensions.keyUsage == KeyUsage(keyCertSign: true))
      #expect(try Array(#require(try extensions.nameConstraints).permittedDNSDomains) == ["localhost", "dev.example"])
      let lifetime = made.certificate.notValidAfter.timeIntervalSince(made.certificate.notValidBefore)
      #expect(lifetime <= 366 * 86_400)
      let mode = try FileManager.default.attributesOfItem(atPath: folder.place("state/authority.key").string)[
        .posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(!made.certificateText.contains("PRIVATE"))
    }

    @Test func itIsMadeOnce() throws {
      let first = try authority(), second = try authority()
      #expect(!second.isNew && first.certificateText == second.certificateText)
      #expect(try authority(now: Date(timeIntervalSinceNow: 300 * 86_400)).certificateText == first.certificateText)
      // It ends within 30 days.
      let third = try authority(now: Date(timeIntervalSinceNow: 340 * 86_400))
      #expect(third.isNew && third.certificateText != first.certificateText)
    }

    @Test func anotherNameTakesAnother() throws {
      let first = try authority()
      #expect(try authority(required: ["dev.example"]).certificateText == first.certificateText)
      #expect(try authority(required: ["sub.dev.example"]).certificateText == first.certificateText)
      let second = try authority(["localhost", "new.example"], required: ["new.example"])
      #expect(second.isNew)
      #expect(!second.covers(MachineNames(names: ["dev.example"], addresses: [])))
      #expect(!second.covers(MachineNames(names: ["notlocalhost"], addresses: [])))
      #expect(second.covers(MachineNames(names: [], addresses: [[127, 9, 9, 9]])))
      #expect(!second.covers(MachineNames(names: [], addresses: [[10, 0, 0, 1]])))
    }

    @Test func aKeyThatOthersCanReadIsRefused() throws {
      _ = try authority()
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o644], ofItemAtPath: folder.place("state/authority.key").string)
      #expect(throws: PackStoreError.self) { try authority() }
    }

    @Test func damageIsSaid() throws {
      _ = try authority()
      try Data("nonsense".utf8).write(to: URL(fileURLWithPath: folder.place("state/authority.pem").string))
      #expect(throws: PackStoreError.self) { try authority() }
    }

    /// A process that ended between the two files leaves a key that is not the certificate's: another authority is made.
    @Test func halfAnAuthorityIsNone() throws {
      let first = try authority()
      let other = P256.Signing.PrivateKey()
      let key = folder.place("state/authority.key").string
      try Data(other.pemRepresentation.utf8).write(to: URL(fileURLWithPath: key))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
      let second = try authority()
      #expect(second.isNew && second.certificateText != first.certificateText)
    }

    /// Who asks by name gets a certificate that clients without constraints of addresses take.
    @Test func leavesAreForNamesOrForAll() throws {
      let made = try authority()
      let names = MachineNames(
        names: ["localhost", "dev.example", "elsewhere.example"], addresses: [[127, 0, 0, 1], [10, 0, 0, 1]])
      for hasAddresses in [false, true] {
        let key = P256.Signing.PrivateKey()
        let leaf = try Certificate(
          derEncoded: try made.leaf(for: names, hasAddresses: hasAddresses, key: key, now: Date()))
        let alternatives = try #require(try leaf.extensions.subjectAlternativeNames)
        let domains = alternatives.compactMap { name -> String? in
          if case .dnsName(let text) = name { text } else { nil }
        }
        let addresses = alternatives.compactMap { name -> [UInt8]? in
          if case .ipAddress(let text) = name { Array(text.bytes) } else { nil }
        }
        #expect(domains == ["localhost", "dev.example"], "nothing that the authority may not say")
        #expect(addresses == (hasAddresses ? [[127, 0, 0, 1]] : []))
        #expect(try leaf.extensions.basicConstraints == .notCertificateAuthority)
        #expect(leaf.notValidAfter <= made.certificate.notValidAfter)
        #expect(made.certificate.publicKey.isValidSignature(leaf.signature, for: leaf))
      }
    }
  }
#endif
