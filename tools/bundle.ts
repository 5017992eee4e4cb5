/**
 * Writes the command as few files that need nothing but Node into `dist/bundle`: `slipway.mjs`, what it loads when it is asked for under
 * `lib`, the examples that `slipway demo` applies, and the licences of the packages within. Argument: another folder, which is emptied.
 */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { buildPage } from "../src/console/server/page-build.ts";

const ROOT = join(import.meta.dirname, "..");
/** Packages of which the page is made. */
const PAGE_PACKAGES = [
  "preact",
  "@preact/signals",
  "@preact/signals-core",
  "uplot",
  "@xterm/xterm",
  "@xterm/addon-fit",
].map((name) => `node_modules/${name}`);
const out = process.argv[2] ?? join(ROOT, "dist/bundle");

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { slipway: "src/cli/main.ts" },
  outdir: out,
  outExtension: { ".js": ".mjs" },
  // As deep below the examples as src/cli is: what is found relative to a source file is found relative to a chunk.
  chunkNames: "lib/chunks/[name]-[hash]",
  bundle: true,
  // Builds the page from sources, which a bundle has no need of.
  external: ["esbuild"],
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // Names stay: they stand in stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  banner: {
    // CommonJS packages ask for Node's own modules by `require`, which a module does not have.
    js: `import{createRequire as slipwayRequire}from"node:module";const require=slipwayRequire(import.meta.url);`,
  },
  metafile: true,
  logLevel: "warning",
  // It has said what is wrong.
}).catch(() => process.exit(1));

const main = join(out, "slipway.mjs");
writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, "utf8")}`);
chmodSync(main, 0o755);
cpSync(join(ROOT, "examples"), join(out, "examples"), { recursive: true });
// What the lab's stand-in for Harvester runs on its machines, beside the code that packs it.
cpSync(join(ROOT, "src/lab/stand-in/program"), join(out, "lib/chunks/program"), { recursive: true });
await writePage(join(out, "lib/chunks/console-page"));
const packages = [...new Set([...packagesIn(metafile), ...PAGE_PACKAGES])].sort();
writeFileSync(join(out, "LICENSES.txt"), packages.map(licenceOf).join("\n"));
const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`bundle: ${(bytes / 1024 / 1024).toFixed(1)} MiB with ${packages.length} packages in ${out}`);

/** The console's page, beside the code that serves it. */
async function writePage(folder: string): Promise<void> {
  const { index, files } = await buildPage();
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "index.html"), index);
  for (const [name, { bytes }] of files) writeFileSync(join(folder, name), bytes);
}

/** Folders of the packages that code was taken from. */
function packagesIn({ outputs }: Metafile): string[] {
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]),
  );
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
}

function licenceOf(folder: string): string {
  const path = join(ROOT, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as {
    name: string;
    version: string;
    license?: string;
  };
  const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? "" : readFileSync(join(path, file), "utf8").trim();
  return `${"=".repeat(78)}\n${name} ${version}: ${license ?? "see below"}\n\n${text}\n`;
}
