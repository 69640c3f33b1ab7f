#!/usr/bin/env node
import yargs from 'yargs';

const args = yargs(process.argv.slice(2))
  .options({
    bucket: { alias: 'b', type: 'string', demandOption: true, description: 'name of the bucket' },
    prefix: { type: 'string', default: '', description: 'only keys that begin so' },
    'max-keys': { type: 'number', default: 1000, description: 'at most so many' },
    'human-readable': { alias: 'h', type: 'boolean', description: 'sizes with units' },
  })
  .help(false)
  .parseSync();

const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
const out = await new S3Client({}).send(new ListObjectsV2Command({ Bucket: args.bucket, Prefix: args.prefix, MaxKeys: args.maxKeys }));
for (const o of out.Contents ?? []) console.log(args['human-readable'] ? (o.Size / 1e6).toFixed(1) + ' MB' : o.Size, o.Key);
