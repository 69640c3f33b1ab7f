const { program } = require('commander');

program
  .name('presign')
  .arguments('<bucket> <key>')
  .description('Make a link to an object', { bucket: 'name of the bucket', key: 'key of the object' })
  .option('-e, --expires <seconds>', 'how long it works', '3600')
  .option('-m, --method <method>', 'GET or PUT', 'GET')
  .action((bucket, key, { expires, method }) => {
    console.log(`https://${bucket}.s3.amazonaws.com/${key}?expires=${expires}&method=${method}`);
  });
program.parse(process.argv);
