import { cac } from 'cac';
const cli = cac('notes');

cli.command('add <title>', 'Add a note').option('--tag <tag>', 'tag of the note').action((title, options) => {
  console.log('add', title, options.tag);
});
cli.command('list [...tags]', 'List the notes').option('--limit <n>', 'at most so many', { default: 10 }).action((tags, options) => {
  console.log(tags, options.limit);
});
cli.help();
cli.version('1.0.0');
cli.parse(process.argv);
