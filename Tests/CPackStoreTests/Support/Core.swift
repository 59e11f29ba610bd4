import Testing

/// The suite that holds all others. They run one after another, because the core's allocation counters and its injected
/// failures are the whole process's.
@Suite(.serialized) enum Core {}
