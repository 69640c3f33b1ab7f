package infer

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// fileParams returns the parameters of a command line that take names of files:
// judged by their types, their use, their names and their descriptions. Those that
// a manifest declares say it themselves (`format: path`).
func fileParams(line *cli.CommandLine) []skills.FileParam {
	seen, fallbacks := map[string]cli.File{}, map[string]string{}
	line.Arguments(func(property string, a *cli.Argument) {
		if a.Fallback != "" {
			fallbacks[property] = a.Fallback
		}
		if a.File != nil { // commands may share a property
			f := seen[property]
			seen[property] = cli.File{Written: f.Written || a.File.Written, Read: f.Read || a.File.Read}
		}
	})
	var all []skills.FileParam
	for _, p := range skills.Properties(line.Schema()) {
		item := p.Schema
		if item.Type == "array" && item.Items != nil {
			item = item.Items
		}
		if item.Type != "string" || item.Enum != nil {
			continue
		}
		use, there := seen[p.Name]
		fallback := fallbacks[p.Name]
		if text, is := p.Schema.Default.(string); is && fallback == "" {
			fallback = text
		}
		if f, ok := fileParam(p, use, there, fallback); ok {
			f.Fallback = fallback
			all = append(all, f)
		}
	}
	return all
}

// NamesFiles reports whether a parameter takes names of files or folders, by its name
// and description.
func NamesFiles(p skills.Param) bool {
	if p.Path {
		return true
	}
	if p.Schema.Type != "string" && p.Schema.Type != "array" || p.Schema.Enum != nil {
		return false
	}
	f, ok := fileParam(p, cli.File{}, false, "")
	return ok && f.Certain
}

// Words of names.
var (
	outWords  = []string{"out", "output", "outputs", "outfile", "outdir", "outpath", "outputfile", "outputdir", "dest", "destination", "save", "export"}
	inWords   = []string{"in", "input", "inputs", "infile", "indir", "src", "source"}
	fileWords = []string{
		"file", "files", "filename", "filenames", "filepath", "filepaths", "path", "paths", "dir", "dirs", "directory", "directories", "folder", "folders",
		"infile", "indir", "outfile", "outdir", "outpath", "outputfile", "outputdir", "logfile",
	}
	// maybeFileWords name parameters that are often files, and often something else.
	maybeFileWords = []string{
		"in", "input", "inputs", "src", "source", "root", "repo", "project", "workspace", "config", "csv", "json", "yaml", "xml", "pdf", "docx", "xlsx", "pptx",
		"html", "md", "markdown", "image", "images", "img", "video", "audio", "document", "doc", "docs", "spec", "schema", "manifest", "data", "dataset",
		"template", "log", "logs", "script", "notebook", "archive", "zip", "baseline", "db", "database", "report", "results", "target",
	}
	// resultWords name files that may be written, or have been.
	resultWords = []string{"report", "reports", "summary", "log", "logs", "logfile", "result", "results", "plot", "chart", "figure", "screenshot", "artifact", "artifacts", "dump", "cache"}
	// attributeWords name properties of files, such as a format.
	attributeWords = []string{
		"format", "type", "mode", "style", "level", "encoding", "pattern", "patterns", "glob", "regex", "ext", "exts", "extension", "extensions", "suffix", "delimiter",
		"separator", "sep", "count", "size", "limit", "depth", "lines", "columns", "column", "field", "fields", "key", "title", "url", "uri", "lang", "language", "text",
		"decimal", "char", "character", "mark", "joiner", "message", "msg", "comment", "branch", "ref", "tag", "commit", "rev", "revision", "mime", "accept", "match", "filter", "include", "includes",
	}
	// compared name parameters whose values scripts compare, rather than open.
	compared = []string{"exclude", "excludes", "excluded", "ignore", "ignores", "ignored", "skip", "only"}
	// outKinds follow an out word in the names of files.
	outKinds = []string{
		"to", "as", "name", "prefix", "base", "stem", "root", "location", "data", "dataset", "csv", "tsv", "json", "jsonl", "yaml", "xml", "txt", "pdf", "docx", "xlsx", "pptx",
		"html", "md", "markdown", "svg", "png", "image", "images", "img", "video", "audio", "document", "doc", "docs", "archive", "zip", "notebook",
	}
	// otherPaths come before "path" in the names of paths that lead to no file.
	otherPaths = []string{"api", "url", "key", "import", "route", "request", "remote", "object", "attribute", "property", "field", "s3"}
)

var (
	aboutFile   = lazyregexp.New(`\b(?:paths?|files?|filename|director(?:y|ies)|folders?)\b`)
	aboutFormat = lazyregexp.New(`\bformats?\b|\bfile (?:types?|extensions?|encodings?)\b`)
	aboutOther  = lazyregexp.New(`\b(?:dotted|dot-separated|jsonpath|xpath|api|url|key|import|property|attribute|remote) paths?\b|\bdot(?:ted)? notation\b`)
	aboutWrite  = lazyregexp.New(`^(?:optional )?output\b|\boutput (?:file|path|dir|folder)|\bto (?:write|save|store|export|create)\b|\b(?:write|save|export|store)\b[^.;]{0,40}\b(?:to|in|into|as|here)\b`)
	// folderDefault matches a default that is a folder, or lies in one.
	folderDefault = lazyregexp.New(`^\.{1,2}(?:/|$)|^[\w.-]+/$`)
	camel         = lazyregexp.New(`([a-z0-9])([A-Z])`)
)

// helpOfFile reports whether a description speaks of a file or a folder. The search
// for plain words comes first: the expressions cost a hundred times as much.
func helpOfFile(help string) bool {
	help = strings.ToLower(help)
	if !containsAny(help, []string{"path", "file", "director", "folder"}) {
		return false
	}
	return aboutFile.MatchString(help) && !aboutFormat.MatchString(help)
}

// helpOfWrite reports whether a description speaks of something that is written.
func helpOfWrite(help string) bool {
	help = strings.ToLower(help)
	return containsAny(help, []string{"output", "write", "save", "export", "store", "create"}) && aboutWrite.MatchString(help)
}

// snake writes aName as a_Name.
func snake(name string) string {
	if strings.ToLower(name) == name { // as most are
		return name
	}
	return camel.ReplaceAllString(name, "${1}_$2")
}

// fileParam infers from a parameter's name, its description, its default and its use
// in the script whether it takes a file's name.
func fileParam(p skills.Param, use cli.File, seen bool, fallback string) (f skills.FileParam, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(snake(p.Name)), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	help, last := p.Schema.Description, len(words)-1
	if last > 0 && words[last] == "name" && (words[last-1] == "output" || slices.Contains(fileWords, words[last-1])) {
		words[last] = "filename"
	}
	named := last >= 0 && slices.Contains(fileWords, words[last]) || has(fileWords) && !has(attributeWords)
	if named && has(compared) && words[last] != "file" || last > 0 && words[last] == "path" && slices.Contains(otherPaths, words[last-1]) {
		named = false
	}
	if !seen && (!named && (has(attributeWords) || has(compared)) || aboutOther.MatchString(strings.ToLower(help))) {
		return f, false
	}
	seen = seen || folderDefault.MatchString(fallback) && !(last >= 0 && words[last] == "prefix")
	of := helpOfFile(help)
	out, perhaps := has(outWords) || p.Name == "o", has(resultWords) && !has(inWords)
	if out && last > 0 && !seen && !named && !of { // as dest_branch
		out = slices.Contains(outWords, words[last]) || slices.Contains(outKinds, words[last]) || slices.Contains(resultWords, words[last])
	}
	f = skills.FileParam{Name: p.Name, Certain: seen || named || of && (out || perhaps || has(maybeFileWords))}
	told := (seen || named || perhaps) && !use.Read && !has(inWords) && helpOfWrite(help)
	f.Written = use.Written || out || perhaps && f.Certain || told
	// "File to export" is one that is there.
	f.Read = !out && (use.Read || perhaps || told && !use.Written)
	return f, f.Certain || f.Written || of || has(maybeFileWords)
}
