package web

import (
	"context"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
)

// Manage knows the machine: the installed skills, the clients and the settings. Its
// methods must return when ctx is done.
type Manage interface {
	Sources
	Clients
	// Settings returns the effective settings, without any secret.
	Settings(ctx context.Context) ([]Setting, error)
	// Catalog asks ClawHub for skills to install. Its answer is a stranger's.
	Catalog(ctx context.Context, query string) ([]clawhub.Hit, error)
}

// Sources knows the installed skills.
type Sources interface {
	// Installed describes the installed skills by target, the person's own first. It asks no
	// source for anything.
	Installed(ctx context.Context) ([]manage.Inventory, error)
	// Servers returns the connected MCP servers. None is asked.
	Servers(ctx context.Context) ([]Server, error)
	// Operations returns the changes that are under way. It is the same each time.
	Operations() *installation.Operations
}

// A Server is a connected MCP server.
type Server struct {
	Name, Address string
	TokenEnv      string // the variable with its token; "" is none
	Since         time.Time
	Skills        int
}

// Clients knows the MCP clients of this machine.
type Clients interface {
	// Clients describes the MCP clients, with what their files have of this server.
	Clients(ctx context.Context) ([]Client, error)
	// Connect adds this server to the file of a client, or removes it. Force replaces or
	// removes another server of the name. It returns lines about the change.
	Connect(ctx context.Context, client string, remove, force bool) ([]string, error)
}

// A Client is an MCP client.
type Client struct {
	Name, Title string
	File        string // that configures it
	Installed   bool
	// Has reports that the file starts this server as the entry does, Other the program or
	// address of another server of the name.
	Has   bool
	Other string
	Same  bool   // Other is this program, with other arguments
	Entry string // to add
	Hint  string // about the entry
	Err   string // why the file cannot be read
}

// A Setting is an effective value of the configuration.
type Setting struct {
	Group, Key, Value string
	Origin            string // "default", or where it is set
}

// A management has the screens of the machine.
type management struct {
	manage  Manage
	service *api.Service

	// The results that screens show until the server ends; guarded by mu.
	mu        sync.Mutex
	diagnosis *api.Diagnosis // the last one; nil before
	at        time.Time      // of diagnosis
	told      []string       // about the last change of a client's file
	offers    []clawhub.Hit  // of the last search of the registry
	wanted    string         // the words of that search; "" before
}
