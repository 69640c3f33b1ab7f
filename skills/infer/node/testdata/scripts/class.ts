import { Command } from 'commander';
interface Options { out: string; deep?: boolean }
abstract class Base<T extends object> { protected abstract run(o: T): Promise<void>; }
class App extends Base<Options> {
  private readonly program: Command = new Command();
  constructor(private name: string) {
    super();
    for (const [flag, help] of [['--deep', 'go deep'], ['-o, --out <dir>', 'where to']] as const) this.program.option(flag, help);
  }
  protected async run(o: Options): Promise<void> { console.log(<unknown>o); }
  start() { this.program.argument('<url>').action((url: string, o: Options) => this.run(o)); this.program.parse(process.argv); }
}
new App('x').start();
