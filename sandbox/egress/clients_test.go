package egress

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Programs that skills use find the proxy by the variables of [Environ], reach
// the granted hosts over http and https, and show why others are refused.
func TestRealClients(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host) })
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plain.Close()
	defer secure.Close()
	w := newWorld()
	w.names["api.example.com"] = []string{apiAddress}
	w.servers[apiAddress+":80"] = plain.Listener.Addr().String()
	w.servers[apiAddress+":443"] = secure.Listener.Addr().String()
	p := start(t, w, nil, "api.example.com")

	const python = `
import ssl, sys, urllib.request
context = ssl._create_unverified_context()
try:
    print(urllib.request.urlopen(sys.argv[1], context=context).read().decode())
except urllib.error.HTTPError as e:
    print(e.read().decode())
except Exception as e:
    print(e)
`
	const java = `
import java.net.*;
import java.security.cert.X509Certificate;
import javax.net.ssl.*;

class Get {
	public static void main(String[] args) throws Exception {
		var context = SSLContext.getInstance("TLS");
		context.init(null, new TrustManager[] {new X509TrustManager() {
			public void checkClientTrusted(X509Certificate[] chain, String type) {}
			public void checkServerTrusted(X509Certificate[] chain, String type) {}
			public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; }
		}}, null);
		HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
		HttpsURLConnection.setDefaultHostnameVerifier((host, session) -> true);
		var connection = (HttpURLConnection) URI.create(args[0]).toURL().openConnection();
		try {
			var body = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream();
			System.out.println(new String(body.readAllBytes()));
		} catch (Exception e) {
			System.out.println(e);
		}
	}
}
`
	source := filepath.Join(t.TempDir(), "Get.java")
	if err := os.WriteFile(source, []byte(java), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"curl":    {"curl", "--silent", "--show-error", "--insecure", "--verbose"},
		"python3": {"python3", "-c", python},
		"java":    {"java", source},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			if os.Getenv("CI") != "" && name != "java" {
				t.Errorf("%v", err)
			}
			t.Logf("SKIPPED: %v", err)
			continue
		}
		for url, want := range map[string]string{
			"http://api.example.com/":    "hello api.example.com",
			"https://api.example.com/":   "hello api.example.com",
			"http://other.example.com/":  "other.example.com:80 is not among the hosts that this skill was granted: api.example.com",
			"https://other.example.com/": "other.example.com:443 is not among the hosts that this skill was granted: api.example.com",
		} {
			cmd := exec.Command(command[0], append(command[1:], url)...)
			cmd.Env = append(Environ(p.address), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())
			out, _ := cmd.CombinedOutput() // what is refused is a failure for some
			if !strings.Contains(string(out), want) {
				t.Errorf("%s %s: want %q in\n%s", name, url, want, out)
			}
		}
	}
}
