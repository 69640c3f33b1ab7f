import getopts from 'getopts';
const { level, keep, suffix, _: paths } = getopts(process.argv.slice(2), { boolean: ['keep'], string: ['suffix'], alias: { k: 'keep', l: 'level', s: 'suffix' }, default: { level: 6, suffix: '.gz' } });
paths.forEach((p) => console.log(p, level, keep, suffix));
