const [,, file, op, value] = process.argv;
if (op === 'crop') crop(file, parseInt(value, 10));
else if (op === 'label') label(file, value);
else process.exit(1);
