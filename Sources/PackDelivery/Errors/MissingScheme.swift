/// The URL that the user probably meant by a path that does not exist: `https://www.example.org/packs` for
/// `www.example.org/packs`. `nil` if the path does not begin like a host.
func urlWithMissingScheme(_ path: String) -> String? {
  // `https:/host` and `https:host` are paths, too.
  let rest = path.replacing(/^[Hh][Tt][Tt][Pp][Ss]?:\/?/, with: "", maxReplacements: 1)
  let host =
    /(?:[^\/?#@\s]*@)?(?<name>[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)*|\[[0-9A-Fa-f:.]+\])(?<port>:[0-9]+)?(?:[\/?#]|$)/
  guard let match = rest.prefixMatch(of: host) else { return nil }
  let isHost = rest != path || match.name == "localhost" || match.name.contains(".") || match.port != nil
  guard isHost else { return nil }
  let isLocal = match.name == "localhost" || match.name.hasPrefix("127.") || match.name == "[::1]"
  return withoutSecrets((isLocal ? "http://" : "https://") + rest)
}
