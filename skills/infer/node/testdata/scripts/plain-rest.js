const [, , port, ...files] = process.argv;
if (!/^\d+$/.test(port || '')) process.exit(1);
if (files.length === 0) process.exit(2);
files.forEach((file) => console.log(file, port));
