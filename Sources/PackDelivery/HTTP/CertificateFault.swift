#if Delivery
  import NIOSSL

  /// Why the server of a connection is not believed to be who it says, if that is why there is none. Another attempt would find the
  /// same.
  struct CertificateFault {
    private let reason: String

    init?(_ error: any Error) {
      switch error {
      // BoringSSL says it in words alone.
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
        "check the address and the clock; if they are right, trust its authority ('--ca FILE', SSL_CERT_FILE, or the system)"
      return error
    }
  }
#endif
