#!/usr/bin/env node
/**
 * Check addresses and report those that do not answer.
 */
const { Command } = require('commander');

module.exports = { check };

async function check(url, timeout) {
  const res = await fetch(url, { signal: AbortSignal.timeout(timeout) });
  return res.ok;
}

if (require.main === module) {
  const program = new Command();
  program
    .argument('<urls...>', 'addresses to check')
    .option('-t, --timeout <ms>', 'longest wait', (v) => parseInt(v, 10), 5000)
    .option('-r, --retries <n>', 'how often to try', (v) => parseInt(v, 10), 0)
    .option('--json', 'print JSON')
    .parse(process.argv);
  const { timeout } = program.opts();
  Promise.all(program.args.map((u) => check(u, timeout))).then(console.log);
}
