import meow from 'meow';
const cli = meow(`
	Usage
	  $ foo <input>

	Options
	  --rainbow, -r  Include a rainbow
	  --size  The size
`, { importMeta: import.meta, flags: { rainbow: { type: 'boolean', shortFlag: 'r' }, size: { type: 'number', default: 3 }, outputDir: { type: 'string', isRequired: true }, tag: { type: 'string', isMultiple: true } } });
const input = cli.input[0];
console.log(JSON.stringify({ ...cli.flags, input }));
