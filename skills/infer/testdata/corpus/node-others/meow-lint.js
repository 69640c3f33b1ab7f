import meow from 'meow';
const cli = meow({
  importMeta: import.meta,
  flags: {
    fix: { type: 'boolean', default: false },
    ext: { type: 'string', isMultiple: true, default: ['js'] },
    config: { type: 'string', shortFlag: 'c', isRequired: true },
  },
});
for (const dir of cli.input) console.log(dir, cli.flags.fix, cli.flags.ext, cli.flags.config);
