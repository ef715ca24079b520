// SPDX-License-Identifier: GPL-2.0-only
//
// load.mjs DIR FILE: what speedscope makes of a profile: "total N", then "self N FUNCTION"
// for each function. DIR is what vm/cache/speedscope prints.
//
// The viewer is one program for a page. It runs here in front of a page on which everything
// is there and nothing happens; its own import is asked for the profile.

import fs from 'fs';
import path from 'path';
import vm from 'vm';

const [dir, file] = process.argv.slice(2);
const program = fs.readFileSync(path.join(dir, fs.readdirSync(dir)[0]), 'utf8');

// The module of imports is promised once as it starts: let us have that promise too.
const opened = program.replace(
	/var (\w+)=(Promise\.resolve\(\)\.then\(\(\)=>\(\w+\(\),\w+\)\);\1\.then\(\(\)=>\{\}\))/,
	'var $1=globalThis.imports=$2');
if (opened === program)
	throw new Error('this is no speedscope that is known here');

const anything = new Proxy(function () {}, {
	get: (target, key) => key === 'then' || key === Symbol.iterator ? undefined :
		key === Symbol.toPrimitive ? () => 0 : anything,
	apply: () => anything,
	construct: () => anything,
	set: () => true,
	has: () => true,
});
const page = {
	document: anything, localStorage: anything, matchMedia: anything,
	navigator: { platform: '', userAgent: '' },
	location: { hash: '', href: 'file:///', protocol: 'file:' },
	addEventListener() {}, removeEventListener() {},
	requestAnimationFrame: () => 0, cancelAnimationFrame() {},
	devicePixelRatio: 1, innerWidth: 100, innerHeight: 100,
	FileReader: class {}, Image: class {}, HTMLElement: class {}, Element: class {},
	Node: class {}, Worker: class {},
	console: { ...console, log() {}, warn() {} },
	performance, setTimeout, clearTimeout, atob, btoa, Blob, URL, TextDecoder, TextEncoder,
	Uint8Array, ArrayBuffer, DecompressionStream, Response,
};
page.window = page.self = page.globalThis = page;
// What it draws on such a page fails at some point: it does not matter.
process.on('unhandledRejection', () => {});
try {
	vm.runInNewContext(opened, page);
} catch (error) {
	if (!page.imports)
		throw error;
}

const imports = await page.imports;
const group = await imports.importProfileGroupFromBase64(file,
	fs.readFileSync(file).toString('base64'));
if (!group)
	throw new Error(`${file}: speedscope finds no profile in it`);
const profile = group.profiles[group.indexToView];
console.log('total', profile.getTotalWeight());
profile.forEachFrame(frame => console.log('self', frame.getSelfWeight(), frame.name));
