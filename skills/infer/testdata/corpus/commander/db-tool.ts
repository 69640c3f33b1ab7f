#!/usr/bin/env -S npx tsx
import { Command } from 'commander';
import { Client } from 'pg';

const program = new Command();
program
  .name('db-tool')
  .description('Small tasks for a PostgreSQL database')
  .option('--url <url>', 'connection string', 'postgres://localhost/app')
  .option('--verbose', 'print every statement');

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: program.opts().url });
  await client.connect();
  return client;
}

const query = new Command('query')
  .description('run one SQL statement')
  .argument('<sql>', 'statement to run')
  .option('-f, --format <format>', 'json or table', 'table')
  .action(async (sql: string, options: { format: string }) => {
    const client = await connect();
    const result = await client.query(sql);
    if (options.format === 'json') console.log(JSON.stringify(result.rows));
    else console.table(result.rows);
    await client.end();
  });

const dump = new Command('dump')
  .description('write a table as CSV')
  .argument('<table>', 'name of the table')
  .requiredOption('-o, --out <file>', 'file to write')
  .option('--limit <rows>', 'at most so many rows', parseInt)
  .action(async (table, options) => {
    const client = await connect();
    console.log(`dumping ${table} to ${options.out}`);
    await client.end();
  });

program.addCommand(query);
program.addCommand(dump);

await program.parseAsync(process.argv);
