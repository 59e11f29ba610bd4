// Re-exported because this module's API uses its types, such as keys and offers.

@_exported public import PackFormats
