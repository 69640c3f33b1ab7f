package main

import (
	_ "github.com/docker/docker/client"
	_ "github.com/mark3labs/mcp-go/server"
)

func main() {}
