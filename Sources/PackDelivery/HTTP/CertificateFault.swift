#if Delivery
  import NIOSSL

  /// The reason why a server's certificate was refused, if that is why a connection failed. Another attempt would fail in the same
  /// way.
  struct CertificateFault {
    private let reason: String

    init?(_ error: any Error) {
      switch error {
      // BoringSSL reports it only as text.
      case NIOSSLError.handshakeFailed(let cause) where "\(cause)".contains("CERTIFICATE_VERIFY_FAILED"):
        reason = "the server's certificate is not trusted"
      case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        reason = "the server's certificate is for another name"
      default: return nil
      }
    }

    func error(at place: String) -> DeliveryError {
      var error = DeliveryError(.unreachable, reason, at: place)
      error.specificRemedy =
        "check the address and the clock; if they are right, trust its authority with '--ca FILE', SSL_CERT_FILE or the system"
      return error
    }
  }
#endif
