package lab

func Initializing(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
}

// Greet initializes as a legacy client with capabilities.
func (w *Wire) Greet(capabilities string) {
	w.t.Helper()
	w.Send(Initializing(capabilities))
	w.Receive()
	w.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}
