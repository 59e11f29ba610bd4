import PackDelivery
import PackStore

extension AssetPackManager {
  /// The text of a warning about two sites that one root key signs for the same product.
  static func sharedKeyText(_ site: String, _ other: String, _ origin: Store.Origin) -> String {
    let product = origin.product.map { " for the product '\($0)'" } ?? ""
    return
      "the sites '\(withoutSecrets(site))' and '\(withoutSecrets(other))' are not copies of each other, but one root key signs both\(product):"
      + " packs of the same name replace each other; publish them as different products"
  }
}
