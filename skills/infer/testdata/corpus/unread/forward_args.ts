import { main } from './lib/main.ts';
main(process.argv);
