#!/usr/bin/env node
import meow from 'meow';

const cli = meow(`
  Usage
    $ unicorn <input>

  Options
    --rainbow, -r  include a rainbow
    --count        how many
`, {
  importMeta: import.meta,
  flags: {
    rainbow: { type: 'boolean', shortFlag: 'r' },
    count: { type: 'number', default: 1 },
    format: { type: 'string', choices: ['png', 'svg'], default: 'png' },
  },
});
const [input] = cli.input;
if (!input) cli.showHelp();
for (let i = 0; i < cli.flags.count; i++) console.log(input, cli.flags.rainbow, cli.flags.format);
