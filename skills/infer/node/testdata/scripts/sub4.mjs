// An unknown command only says so: others may be passed, without arguments.
const args = process.argv.slice(2);
async function main() {
  const commands = { add: (rest) => add(rest[0]), list };
  const handler = commands[args[0]?.toLowerCase()];
  if (!handler) { console.log('Commands:\n  add <title>  Add a task\n  list         List them'); return; }
  await handler(args.slice(1));
}
function list(rest) { console.log(all, rest[0] || 'open'); }
main().catch(() => process.exit(1));
