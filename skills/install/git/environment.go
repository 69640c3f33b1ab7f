package git

import (
	"slices"
	"strings"
)

// keptVariables are the variables of git that say how a server is reached and where the
// person's settings are. All others of git are left out: they name repositories,
// programs, settings and trace files.
var keptVariables = [...]string{
	"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED",
	"GIT_HTTP_PROXY_AUTHMETHOD", "GIT_PROXY_SSL_CAINFO", "GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// environment returns the variables of a git process.
func (f *Fetcher) environment(protocols string) []string {
	var env []string
	for _, variable := range f.options.Env {
		name, _, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name) // as on Windows
		if !strings.HasPrefix(name, "GIT_") || slices.Contains(keptVariables[:], name) {
			env = append(env, variable)
		}
	}
	env = append(env,
		"LC_ALL=C", // errors are read
		"GIT_ALLOW_PROTOCOL="+protocols,
		"GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_ALLOC_LIMIT=512m", // a header may promise any number of objects
	)
	if f.options.Terminal {
		return append(env, "GIT_TERMINAL_PROMPT=1")
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never")
}

// settings are given to each git process. They go before the person's, and there are no
// others in the repository.
var settings = [...]string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.fsync=none",
	"core.bigFileThreshold=8m", // larger ones are streamed, not held in memory
	"fetch.unpackLimit=1", "fetch.recurseSubmodules=false", "submodule.recurse=false",
	"fetch.prune=false", "fetch.writeCommitGraph=false", "fetch.showForcedUpdates=false",
	"gc.auto=0", "maintenance.auto=false", "transfer.bundleURI=false", "transfer.unpackLimit=1",
	"protocol.version=2", "http.followRedirects=false", "http.lowSpeedLimit=1", "http.lowSpeedTime=60",
}
