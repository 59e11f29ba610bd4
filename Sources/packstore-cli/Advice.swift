import PackDelivery
import PackStore

// What a person at a terminal does about an error. The libraries speak of their API, which is no help here.

extension PackStoreError {
  /// The command or option that helps.
  var advice: String? {
    switch topic {
    case .damagedRoot: "run 'packstore repair SITE' with the key that signed it"
    case .lostRoot:
      "run 'packstore publish', naming its product with --product and saying with --expires or --no-expires how long it counts"
    case nil: specificRemedy ?? commandAdvice ?? (code == .refused ? nil : remedy)
    }
  }

  /// Nil where the library's own words will do.
  private var commandAdvice: String? {
    switch code {
    case .busy: "\(holder.map { "wait for process \($0)" } ?? "try again later"), or leave out --no-wait"
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
    case .noHTTP: "run 'make release', which builds the program with HTTP and TLS, or pull from a folder"
    case .badResponse where specificRemedy != nil: "raise --metadata-limit, if you believe that it needs so much"
    case .tooOld: "try again later, or allow more with --max-age"
    case .notSigned: "--allow-unsigned takes it"
    case .otherKey: "ask the publisher; 'packstore trust STORE forget ID' forgets what is trusted"
    default: nil
    }
  }
}
