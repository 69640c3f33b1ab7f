package egress

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// home is the home folder of every sandbox, in its memory. Our own files in it have names that
// begin with reserved.
const (
	home     = "/tmp/"
	reserved = ".skills-mcp-authorities"
)

// A File is one that a command finds in its home folder, for its user alone.
type File struct {
	Path string // as [HomeFile] returns it
	Text string // without NUL
}

// fileCharacters may stand in a file's name. A shell heeds none of them.
const fileCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@+/-"

// HomeFile returns the path of a file in a sandbox's home folder, as ~/NAME. The error has
// the remedy.
func HomeFile(path string) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(path, "~/"), home)
	if strings.Trim(name, fileCharacters) != "" || len(name) > 200 || !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, reserved) {
		return "", fmt.Errorf("%.70q is no file of the run's home folder, which is /tmp; write a path in it without .., and not ~/.skills-mcp-authorities, such as ~/.netrc", path)
	}
	return "~/" + name, nil
}

// put writes a file of the home folder. An earlier command of a kept sandbox may have left a
// file there, or a link on the way. Each process that the shell starts takes it a millisecond.
const put = `put() {
	d=${1%/*}
	if ! (
		umask 077
		[ -d "$d" ] || mkdir -p "$d"
		cd -P "$d" && [ "$PWD" = "$d" ] || exit
		if [ -e "$1" ] || [ -L "$1" ]; then rm -f "$1"; fi
		set -C
		printf '%s' "$2" >"$1"
	) 2>/dev/null; then
		echo "skills-mcp: the file $1 of a secret cannot be written: its place is taken, or not a folder of /tmp, or /tmp is full" >&2
		exit 126
	fi
}
`

// putFiles returns the script that writes files, and adds their texts to the environment of
// a command for it: others of the host see the arguments of processes.
func putFiles(cmd *sandbox.Command, files []File) (string, error) {
	var script strings.Builder
	for i, file := range files {
		path, err := HomeFile(file.Path)
		if err != nil {
			return "", err
		}
		whole := home + strings.TrimPrefix(path, "~/")
		for _, workspace := range cmd.Grant.Workspaces {
			if sandbox.Within(whole, workspace) {
				return "", fmt.Errorf("the file %s of a secret would be in the workspace %s; grant it with another --file", path, workspace)
			}
		}
		if i == 0 {
			script.WriteString(put)
		}
		if strings.Contains(file.Text, "\n") && !strings.HasSuffix(file.Text, "\n") {
			file.Text += "\n" // which keys of OpenSSH need, and the store of secrets has cut off
		}
		variable := fmt.Sprintf("SKILLS_MCP_FILE_%d", i)
		cmd.Env = append(cmd.Env, variable+"="+file.Text)
		fmt.Fprintf(&script, "put %s \"$%s\"\nunset %s\n", whole, variable, variable)
	}
	return script.String(), nil
}
