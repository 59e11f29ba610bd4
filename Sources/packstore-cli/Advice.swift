import PackDelivery
import PackStore

// What a person at a terminal does about an error. The libraries speak of their API, which helps nobody here.

extension PackStoreError {
  /// The command or option that helps.
  var advice: String? { specificRemedy ?? commandAdvice ?? (code == .refused ? nil : remedy) }

  /// Nil where the library's own words will do.
  private var commandAdvice: String? {
    switch code {
    case .conflict: "run the command again"
    case .held: "run 'packstore unpin' to let it move again"
    case .otherOrigin: "see 'packstore trust'; --adopt takes the pack over"
    case .downgrade: "--downgrade takes it all the same"
    case .isSite:
      "use 'packstore publish' and 'packstore unpublish', and 'packstore repair' with the site's key when it is damaged"
    case .corrupt: "run 'packstore verify', then 'packstore repair'"
    default: nil
    }
  }
}

extension DeliveryError {
  /// The command or option that helps.
  var advice: String? { commandAdvice ?? remedy }

  /// Nil where the library's own words will do.
  private var commandAdvice: String? {
    switch code {
    case .notSigned: "--allow-unsigned takes it"
    case .otherKey: "ask the publisher; 'packstore trust STORE forget ID' forgets what is trusted"
    default: nil
    }
  }
}
