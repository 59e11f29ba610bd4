import PackDelivery
import PackStore

// What a person at a terminal does about an error. The libraries speak of their API, which helps nobody here.

/// What went wrong, and the command or option that helps.
func sentence(_ error: PackStoreError) -> String {
  let advice = error.specificRemedy ?? advice(for: error.code) ?? (error.code == .refused ? nil : error.remedy)
  return escaped(advice.map { "\(error.finding): \($0)" } ?? error.finding)
}

/// What went wrong, and the command or option that helps.
func sentence(_ error: DeliveryError) -> String {
  let advice = advice(for: error.code) ?? error.remedy
  return escaped(advice.map { "\(error.finding): \($0)" } ?? error.finding)
}

/// Nil where the library's own words will do.
private func advice(for code: PackStoreError.Code) -> String? {
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

/// Nil where the library's own words will do.
private func advice(for code: DeliveryError.Code) -> String? {
  switch code {
  case .notSigned: "--allow-unsigned takes it"
  case .otherKey: "ask the publisher; 'packstore trust STORE forget ID' forgets what is trusted"
  default: nil
  }
}
