import { Command } from 'commander';
import { quicktype } from 'quicktype-core';

async function main(argv: string[]): Promise<void> {
  const program = new Command()
    .name('zod-gen')
    .description('Generate Zod schemas from JSON')
    .argument('<samples...>', 'JSON files')
    .option('-n, --name <type>', 'name of the type', 'Root')
    .option('-o, --out <file>', 'file to write')
    .option('--optional', 'make all properties optional')
    .exitOverride();
  program.parse(argv);
  console.log(program.args, program.opts(), quicktype);
}

main(process.argv).catch((e) => { console.error(e.message); process.exit(1); });
