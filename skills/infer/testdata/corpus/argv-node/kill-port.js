const { execSync } = require('child_process');
const port = process.argv[2];
if (!/^\d+$/.test(port || '')) {
  console.error('Usage: kill-port <port>');
  process.exit(1);
}
const pid = execSync(`lsof -ti tcp:${port}`).toString().trim();
if (pid) process.kill(Number(pid));
