import { Command } from 'commander';

const program = new Command('webhooks');
program
  .command('send')
  .description('send an event')
  .argument('<url>', 'address')
  .argument('[event]', 'name of the event', 'ping')
  .option('-d, --data <json>', 'body', JSON.parse)
  .option('-H, --header <line>', 'header (repeatable)', (line, lines) => lines.concat(line), [])
  .option('--secret <text>', 'sign the body')
  .action(async (url, event, o) => console.log(url, event, o));
program
  .command('listen')
  .description('print what arrives')
  .option('-p, --port <port>', 'port', '8787')
  .action((o) => console.log(o.port));
await program.parseAsync();
