package connection

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Advice returns warnings about an entry that may not work, and about a client that answers
// for the person.
func (c *Connection) Advice(entry connect.Entry) (lines []string) {
	for _, line := range connect.AnsweringHere(c.Client.Name) {
		lines = append(lines, "Warning: "+plain.Visible(line)+". policy.forms: never asks by none.")
	}
	if entry.URL != "" {
		return append(lines, c.adviceRunning(entry)...)
	}
	if skillfs.Inside(os.TempDir(), entry.Command) {
		lines = append(lines, entry.Command+" is in a temporary folder: put the program in its place first.")
	}
	if c.Project { // the program's name is in a shared file
		line := "Everybody who uses the project needs " + entry.Command + " in their PATH."
		if _, err := exec.LookPath(entry.Command); err != nil {
			line += " You have not."
		}
		lines = append(lines, line)
	}
	if !c.Client.Terminal && !c.sees && !c.Project {
		lines = append(lines, c.Client.Title+" starts servers in a folder of its own: skills see your files with --workspace DIR.")
	}
	return lines
}

// commandLine returns the command that starts the server of a URL. It has the URL's
// address if that is on this machine, else a placeholder, as only the person knows the
// address behind a name or proxy.
func commandLine(to *url.URL, token bool) string {
	command := "skills-mcp serve --transport http"
	host, port := to.Hostname(), to.Port()
	port = cmp.Or(port, "80")
	address := net.JoinHostPort(host, port)
	_, err := netip.ParseAddr(host)
	switch {
	case to.Scheme != "http" || err != nil && host != "localhost":
		command += " --listen ADDRESS:PORT --allow-host " + host
	case address != config.DefaultListen:
		command += " --listen " + address
	}
	if token {
		command += " --token-file FILE"
	}
	return command
}

// adviceRunning names the command that starts a server which the client does not start.
func (c *Connection) adviceRunning(entry connect.Entry) (lines []string) {
	to, err := url.Parse(entry.URL)
	if err != nil {
		return nil
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%s does not start the server at %s: start it with %s", c.Client.Title, entry.URL, commandLine(to, entry.TokenVariable != ""))
	if entry.TokenVariable != "" {
		add("The token is taken from %s, which has to be set where %s is started.", entry.TokenVariable, c.Client.Title)
	}
	if c.tokenFrom != "" && c.Writes {
		add("The entry has the token of that server, from %s: do not share the file.", c.tokenFrom)
	} else if c.tokenFrom != "" {
		add("TOKEN stands for the token in %s, which --write puts there.", c.tokenFrom)
	}
	if strings.Trim(to.Path, "/") == "" {
		add("%s has no path; skills-mcp serves MCP at %s.", entry.URL, transport.Path)
	}
	if to.Scheme == "http" && !endpoint.IsLoopback(net.JoinHostPort(to.Hostname(), to.Port())) {
		add("What is sent to %s is not encrypted: use https, unless the way to it is private.", to.Hostname())
	}
	return lines
}
