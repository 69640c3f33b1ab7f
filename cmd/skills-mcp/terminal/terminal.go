// Package terminal writes for a person's terminal: tables that fit its width, colours where
// it has them, a status line, and Markdown. Texts of strangers
// control nothing. Start with [Of].
package terminal

import (
	"os"

	"golang.org/x/term"
)

// A Screen describes the terminal of a stream. The zero Screen is a file or a pipe.
type Screen struct {
	Width    int  // the columns of a line; 0 for any number
	Controls bool // it understands control sequences
	Color    bool
}

// Of returns the screen of a stream. Control sequences need a terminal that is not "dumb";
// colours also that NO_COLOR is empty (no-color.org).
func Of(stream any) Screen {
	if !Is(stream) {
		return Screen{}
	}
	fd := stream.(descriptor).Fd()
	s := Screen{Width: 80, Controls: os.Getenv("TERM") != "dumb" && enableControls(fd)}
	if columns, _, err := term.GetSize(int(fd)); err == nil && columns > 0 {
		s.Width = columns
	}
	s.Color = s.Controls && os.Getenv("NO_COLOR") == ""
	return s
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	file, ok := stream.(descriptor)
	return ok && term.IsTerminal(int(file.Fd()))
}

// A descriptor is a stream of the operating system.
type descriptor interface{ Fd() uintptr }

// A Style is the parameter of a control sequence that selects the rendition of characters.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint returns text in a style, or text itself where there are no colours.
func (s Screen) Paint(style Style, text string) string {
	if !s.Color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Tone returns the style of a word that names a state, a class, an outcome or a severity;
// Plain for any other.
func Tone(word string) Style {
	switch word {
	case "ready", "ok", "given", "identical":
		return Green
	case "mutating", "needs", "refused", "warn", "warning", "pending", "changed", "expired", "interrupted", "invalid", "undelivered", "shadowed":
		return Yellow
	case "dangerous", "failed", "error", "FAIL", "unavailable", "blocked", "denied", "revoked":
		return Red
	}
	return Plain
}
