import fs from 'node:fs';
import { Command } from 'commander';

const store = `${process.env.HOME}/.config/tool.json`;
const read = () => JSON.parse(fs.readFileSync(store, 'utf8'));
const program = new Command().name('config').description('Read and change the configuration');

program.command('get').argument('<key>', 'name of the setting').action((key) => console.log(read()[key]));

program.command('set')
  .argument('<key>', 'name of the setting')
  .argument('<value>', 'new value')
  .option('--type <type>', 'type of the value', 'string')
  .action((key, value, options) => {
    const config = read();
    config[key] = options.type === 'json' ? JSON.parse(value) : value;
    fs.writeFileSync(store, JSON.stringify(config));
  });

program.command('unset <key>').action((key) => {
  const { [key]: _, ...rest } = read();
  fs.writeFileSync(store, JSON.stringify(rest));
});

program.command('path').description('print the path of the file').action(() => console.log(store));

program.parse();
