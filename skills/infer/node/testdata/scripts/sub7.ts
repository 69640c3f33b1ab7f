import { run } from './lib';
const [command, ...args] = process.argv.slice(2);
const handlers: Record<string, (a: string[]) => Promise<void>> = {
  create: async ([name, kind = 'basic']) => { if (!name) { console.error('Usage: create <name> [kind]'); process.exit(1); } await run(name, kind); },
  delete: async (a) => { await run(a[0]); },
};
const handler = handlers[command];
if (!handler) { console.error(`Unknown command ${command}`); process.exit(1); }
handler(args).catch((e) => { console.error(e); process.exit(1); });
