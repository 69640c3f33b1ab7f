const [,, command, ...rest] = process.argv;
function flags(list) { const o = {}; for (let i = 0; i < list.length; i++) { if (list[i].startsWith('--')) o[list[i].slice(2)] = list[++i]; } return o; }
switch (command) {
  case 'build': build(flags(rest)); break;
  case 'serve': serve(flags(rest)); break;
  default: console.error('unknown'); process.exit(1);
}
