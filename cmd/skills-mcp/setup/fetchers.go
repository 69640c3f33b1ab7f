package setup

import (
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/oci"
)

// NewDownloadClient returns a client for the files of strangers.
func NewDownloadClient() *download.Client {
	return download.New(&download.Options{Public: egress.Public, UserAgent: "skills-mcp/" + build.Read().Version})
}

// NewOCIFetcher returns the fetcher of OCI registries, with the credentials of Docker's
// configuration in a home folder.
func NewOCIFetcher(home string, client *download.Client) *oci.Fetcher {
	return oci.New(client, &oci.Options{DockerConfig: dockerConfig(home)})
}

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
