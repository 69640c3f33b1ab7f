#!/usr/bin/env node
/**
 * backup - copy a folder to S3
 */
const { Command, Option } = require('commander');

const regions = ['eu-west-1', 'us-east-1', 'ap-south-1'];
const pkg = { version: '0.3.1' };

const cmd = new Command();

cmd.version(pkg.version, '-V, --version', 'print the version');
cmd.argument('<folder>', 'folder to copy');
cmd.argument('<bucket>', 'bucket to copy to');
cmd.addOption(new Option('-r, --region <region>', 'region of the bucket').choices(regions).default('eu-west-1', 'Ireland'));
cmd.addOption(new Option('--profile <name>', 'AWS profile').env('AWS_PROFILE').default('default'));
cmd.addOption(new Option('-j, --jobs <n>', 'parallel uploads').argParser((v) => parseInt(v, 10)).default(4));
cmd.addOption(new Option('--storage-class <name>', 'storage class').choices(['STANDARD', 'GLACIER']).makeOptionMandatory());
cmd.option('--delete', 'delete what is gone');
cmd.option('--exclude <pattern>', 'leave out (repeatable)', (v, l) => l.concat(v), []);

cmd.action((folder, bucket, options) => {
  console.log(`aws s3 sync ${folder} s3://${bucket} --region ${options.region} ${options.delete ? '--delete' : ''}`);
});

cmd.parse(process.argv);
