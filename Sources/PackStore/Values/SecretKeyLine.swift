/// The first line of a file with a publisher's secret key. Such a file is never stored, because everyone with the pack could
/// publish.
package let secretKeyLine = "packstore secret key 1"
