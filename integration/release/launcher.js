#!/usr/bin/env node
// Starts the program of this platform, which npm has installed as an optional dependency.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");

const name = `skills-mcp-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/skills-mcp${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`skills-mcp: there is no ${name}; install without --omit=optional, or on a supported platform`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal signals both processes; other senders only this one. The program decides.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`skills-mcp: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code === null ? 128 + constants.signals[signal] : code));
