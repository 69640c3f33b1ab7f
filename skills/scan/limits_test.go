package scan

// The limits of manifests; see package manifest.
const (
	limitMarketPlugins = 2000
	limitPaths         = 64
	limitNeeds         = 256
	limitResources     = 64
	limitVariables     = 64
	limitParams        = 256
	limitTools         = 64
	limitMetadata      = 64 << 10
)
