package setup

import (
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/files"
	"github.com/skillsmcp/skills-mcp/skills/install/git"
	"github.com/skillsmcp/skills-mcp/skills/install/oci"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/install/wellknown"
)

// fetchers returns the fetcher of each kind of source. With terminal, git may ask the
// person for a password.
func (s *Settings) fetchers(terminal bool) map[source.Kind]install.Fetcher {
	client := NewDownloadClient()
	local := files.New(client)
	return map[source.Kind]install.Fetcher{
		source.Folder: local, source.Archive: local, source.URL: local,
		source.Git:     git.New(&git.Options{Env: os.Environ(), Terminal: terminal, Public: egress.Public}),
		source.Index:   wellknown.New(client),
		source.ClawHub: clawhub.New(client, &clawhub.Options{Registry: s.Install.ClawHub}),
		source.OCI:     NewOCIFetcher(s.Home, client),
	}
}

// NewDownloadClient returns a client for the files of strangers.
func NewDownloadClient() *download.Client {
	return download.New(&download.Options{Public: egress.Public, UserAgent: UserAgent()})
}

// NewOCIFetcher returns the fetcher of OCI registries, with the credentials of Docker's
// configuration in a home folder.
func NewOCIFetcher(home string, client *download.Client) *oci.Fetcher {
	return oci.New(client, &oci.Options{DockerConfig: dockerConfig(home)})
}

// UserAgent names the program to servers.
func UserAgent() string { return "skills-mcp/" + build.Read().Version }

// dockerConfig returns the path of the person's Docker configuration; "" if there is none.
func dockerConfig(home string) string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "config.json")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".docker", "config.json")
}
