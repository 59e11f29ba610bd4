// The types that this module's API names: keys, and what a site offers.

@_exported public import PackFormats
