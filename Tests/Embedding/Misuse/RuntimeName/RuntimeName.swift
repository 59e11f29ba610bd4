import PackStore

/// Must not compile: user input is checked by `init(validating:)`, and never by the initializer of literals, which
/// stops the program.
func pack(named name: String) -> PackID { PackID(stringLiteral: name) }
