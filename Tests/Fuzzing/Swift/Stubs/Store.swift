// Stands in for the store, to whose name values belong, where decoders are fuzzed.
public enum Store {}

/// Stands in for the patterns of the core, which the target `glob` fuzzes.
package struct PathPattern {
  package init(_ text: String) throws {}
}
