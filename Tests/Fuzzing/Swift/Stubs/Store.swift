// Stands in for the store, to whose name values belong, where decoders are fuzzed.
public enum Store {}
