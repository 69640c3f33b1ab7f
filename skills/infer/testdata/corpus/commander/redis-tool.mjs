import { Command } from 'commander';
import { createClient } from 'redis';

const program = new Command();
const withClient = (fn) => async (...args) => {
  const client = await createClient({ url: program.opts().url }).connect();
  await fn(client, ...args);
  await client.quit();
};

program.name('redis-tool').option('-u, --url <url>', 'server', 'redis://localhost:6379');
program.command('get <key>').description('print a value').action(withClient(async (client, key) => console.log(await client.get(key))));
program
  .command('set <key> <value>')
  .description('set a value')
  .option('--ttl <seconds>', 'time to live', Number)
  .action(withClient(async (client, key, value, { ttl }) => client.set(key, value, ttl ? { EX: ttl } : {})));
program.command('keys [pattern]').description('list keys').action(withClient(async (client, pattern = '*') => console.log(await client.keys(pattern))));
program.parseAsync();
