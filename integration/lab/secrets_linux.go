package lab

import "strings"

// Keeps gives an account the secrets GITHUB_TOKEN and WEATHER_KEY, and the skills issues and
// weather, which ask for them and print what they have of them.
func (a *Account) Keeps() {
	a.T.Helper()
	for skill, secret := range map[string]string{"issues": "GITHUB_TOKEN", "weather": "WEATHER_KEY"} {
		a.Skill(skill+"/SKILL.md", "---\nname: "+skill+"\ndescription: Asks a service about "+skill+".\nscript: run.sh\nsecrets: ["+secret+"]\n---\n")
		a.Skill(skill+"/run.sh", `echo "out $`+secret+`"; echo "err $`+secret+`" >&2; env >/out/env; echo "$`+secret+`" | base64 -w0
`)
		set := a.Command(Binary, "secret", "set", secret)
		set.Stdin = strings.NewReader(SecretValues[secret])
		if out, code := a.Finish(set); code != 0 {
			a.T.Fatal(out)
		}
	}
}

// SecretValues are the values of [Account.Keeps].
var SecretValues = map[string]string{"GITHUB_TOKEN": "ghp_ThisIsTheRealToken0123456789abcd", "WEATHER_KEY": "weather-5f0c9d7e1b3a2846"}
