#!/usr/bin/env node
import { runCLI } from 'jest';
const args = process.argv.slice(2);
await runCLI({ _: args, $0: 'jest' } as never, [process.cwd()]);
