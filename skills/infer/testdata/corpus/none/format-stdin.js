#!/usr/bin/env node
// Formats JSON from the standard input.
let text = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => {
  process.stdout.write(JSON.stringify(JSON.parse(text), null, 2) + '\n');
});
