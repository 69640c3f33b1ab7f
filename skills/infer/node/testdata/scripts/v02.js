const params = Object.fromEntries(process.argv.slice(2).map(a => a.replace(/^--/, '').split('=')));
console.log(params.x);
