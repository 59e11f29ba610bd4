// `import PackFormats` includes the store whose versions the formats describe.

@_exported public import PackStore
