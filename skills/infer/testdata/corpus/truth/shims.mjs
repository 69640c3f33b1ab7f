// Makes node_modules/NAME for the libraries that are one function: the shim writes what
// it is called with. Run in the working folder.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

const bodies = {
  minimist: `(args, options) => globalThis.__dump('minimist', { parameters: globalThis.__definitions(options) })`,
  mri: `(args, options) => globalThis.__dump('mri', { parameters: globalThis.__definitions(options) })`,
  getopts: `(args, options) => globalThis.__dump('getopts', { parameters: globalThis.__definitions(options) })`,
  meow: `(help, options) => {
    const flags = (typeof help === 'object' ? help : options)?.flags ?? {};
    globalThis.__dump('meow', { parameters: Object.entries(flags).map(([name, f]) => ({
      name, names: f.shortFlag ? [f.shortFlag] : [], flag: '--' + name.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase()),
      type: f.type ?? 'any', ...(f.isMultiple ? { array: true } : {}), ...(f.choices ? { enum: f.choices } : {}),
      ...(f.default !== undefined ? { default: f.default } : {}), ...(f.isRequired === true ? { required: true } : {}),
    })) });
  }`,
  arg: `(spec) => {
    const names = (key) => Object.keys(spec).filter((k) => spec[k] === key).map((k) => k.replace(/^-+/, ''));
    const type = (f) => (f === Boolean ? 'boolean' : f === Number ? 'number' : f === String ? 'string' : f === spec.COUNT || f?.name === '' ? 'any' : 'any');
    globalThis.__dump('arg', { parameters: Object.entries(spec).filter(([, f]) => typeof f !== 'string').map(([key, f]) => ({
      name: key.replace(/^-+/, ''), names: names(key), flag: key, type: type(Array.isArray(f) ? f[0] : f), ...(Array.isArray(f) ? { array: true } : {}),
      ...(['--help', '--version'].includes(key) ? { help: true } : {}),
    })) });
  }`,
  'command-line-args': `(definitions) => globalThis.__dump('command-line-args', { parameters: definitions.map((d) => ({
    name: d.name, names: d.alias ? [d.alias] : [], flag: '--' + d.name,
    type: d.type === Boolean ? 'boolean' : d.type === Number ? 'number' : 'string',
    ...(d.multiple || d.lazyMultiple ? { array: true } : {}), ...(d.defaultValue !== undefined ? { default: d.defaultValue } : {}),
    ...(d.description ? { description: d.description } : {}), ...(['help', 'version'].includes(d.name) ? { help: true } : {}),
  })) })`,
};

for (const [name, body] of Object.entries(bodies)) {
  const folder = `node_modules/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ name, version: '0.0.0', exports: { import: './index.mjs', require: './index.cjs' } }));
  writeFileSync(`${folder}/index.mjs`, `export default ${body};\n`);
  writeFileSync(`${folder}/index.cjs`, `module.exports = ${body};\nmodule.exports.default = module.exports;\n`);
}
