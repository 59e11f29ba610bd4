// Re-exported because this module's API uses its types, such as keys, offers and archives.

@_exported public import PackArchives
@_exported public import PackFormats
