#!/usr/bin/env node
import sharp from 'sharp';
const sizes = [16, 32, 180, 512];
await Promise.all(sizes.map((size) => sharp('logo.svg').resize(size, size).png().toFile(`icon-${size}.png`)));
console.log(`wrote ${sizes.length} icons`);
