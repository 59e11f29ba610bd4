import PackAuthoring
import PackPublishing
import PackStore

/// Whether an operand of a command for stores names a site: a folder that is one, or a bucket.
func namesSite(_ text: String) -> Bool { S3Location.names(text) || Site.exists(at: FilePath(text)) }
