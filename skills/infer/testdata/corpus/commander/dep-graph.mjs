import { Command } from 'commander';
const main = async () => {
  const program = new Command()
    .argument('[entry]', 'file to start from', 'src/index.js')
    .option('-x, --exclude <regex>', 'files to leave out', (text) => new RegExp(text))
    .option('-e, --ext <list>', 'extensions', 'js,ts')
    .option('--circular', 'circular ones only');
  await program.parseAsync();
  const [entry = 'src/index.js'] = program.args;
  console.log(entry, program.opts());
};
main();
