// `import PackFormats` also imports `PackStore`: the formats describe the versions of a store.

@_exported public import PackStore
