package connect

import (
	"os"
	"runtime"
)

// Here returns the folders of the clients of this machine.
func Here() (Places, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Places{}, err
	}
	folder, err := os.UserConfigDir()
	return Places{
		OS: runtime.GOOS, Home: home, Config: folder, Local: os.Getenv("LOCALAPPDATA"),
		ClaudeConfig: os.Getenv("CLAUDE_CONFIG_DIR"), CodexHome: os.Getenv("CODEX_HOME"),
	}, err
}

// AnsweringHere is [Answering] of this machine and the current folder.
func AnsweringHere(client string) []string {
	places, err := Here()
	if err != nil {
		return nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil
	}
	return Answering(client, places, folder)
}
