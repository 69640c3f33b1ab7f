#!/usr/bin/env node
'use strict';
for (let i = 0; i < 256; i++) {
  process.stdout.write(`\x1b[48;5;${i}m ${String(i).padStart(3)} \x1b[0m${i % 16 === 15 ? '\n' : ''}`);
}
