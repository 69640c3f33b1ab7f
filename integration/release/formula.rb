# Homebrew's formula, for a tap: brew install {{.Owner}}/tap/skills-mcp
class SkillsMcp < Formula
  desc "Agent skills as typed MCP tools, each call in a sandbox"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Brews}}
  on_{{.System}} do
{{- range .Builds}}
    on_{{.CPU}} do
      url "{{$.Home}}/releases/download/v{{$.Version}}/{{.Name}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "skills-mcp"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/skills-mcp.bash" => "skills-mcp"
    fish_completion.install "completions/skills-mcp.fish"
    zsh_completion.install "completions/_skills-mcp"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/skills-mcp --version")
  end
end
