// Any other first argument is a file, with words behind it.
const args = process.argv.slice(2);
switch (args[0]) {
  case 'list': list(); break;
  case 'clear': clear(args[1] || 'all'); break;
  default: open(args[0], args.slice(1));
}
