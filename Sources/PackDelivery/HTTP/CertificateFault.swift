#if Delivery
  import NIOSSL

  /// Why the server of a connection is not believed to be who it says, if that is why there is none. Another attempt would find the
  /// same.
  struct CertificateFault {
    let reason: String

    static let remedy =
      "see whether the address and the clock are right; if they are, have its authority trusted ('--ca FILE', PullOptions.authority)"

    init?(_ error: any Error) {
      switch error {
      // BoringSSL says it in words alone.
      case NIOSSLError.handshakeFailed(let cause) where "\(cause)".contains("CERTIFICATE_VERIFY_FAILED"):
        reason = "the server's certificate is not trusted"
      case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        reason = "the server's certificate is one for another name"
      default: return nil
      }
    }
  }
#endif
