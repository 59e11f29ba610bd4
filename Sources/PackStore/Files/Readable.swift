#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// What a web server serves it must be able to read, as another user, whatever the umask of the publisher. Rights are only added,
// and only by the owner: of another user's file they stay as they are.

/// Lets all users read a file of a site. A link, and what is no regular file, stays as it is.
package func makeReadable(_ place: FilePlace) {
  guard let descriptor = try? openFile(place, .refuse) else { return }
  defer { close(descriptor) }
  allow(0o444, descriptor)
}

/// Lets all users enter a folder, and see what is in it.
package func makeReadable(folder path: FilePath) {
  try? withFolderDescriptor(path) { allow(0o555, $0) }
}

extension NewFile {
  /// Lets all users read it.
  package func makeReadable() { allow(0o444, descriptor.rawValue) }
}

private func allow(_ rights: mode_t, _ descriptor: CInt) {
  var info = stat()
  guard fstat(descriptor, &info) == 0 else { return }
  let mode = info.st_mode & 0o7777
  if mode | rights != mode { _ = fchmod(descriptor, mode | rights) }
}
