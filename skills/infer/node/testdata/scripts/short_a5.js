const [cmd, ...rest] = process.argv.slice(2);
switch (cmd) { case 'list': list(); break; case 'add': add(rest[0]); break; default: console.error('?'); process.exit(2); }
