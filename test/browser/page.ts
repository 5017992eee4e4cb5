/** The console's page, built from its sources. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface BuiltPage {
  index: string;
  files: ReadonlyMap<string, { type: string; bytes: Uint8Array }>;
  /** Names of files that the page loads at once. */
  first: readonly string[];
  /** What its files import from elsewhere. */
  foreign: readonly string[];
}

const ENTRY = fileURLToPath(new URL("../../src/console/web/main.tsx", import.meta.url));

/** Builds it in memory. */
export async function builtPage(): Promise<BuiltPage> {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: ENTRY },
    outdir: "/out",
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    ...{ bundle: true, splitting: true, write: false, metafile: true, minify: true },
    ...{ format: "esm", platform: "browser", target: "es2023", legalComments: "none" },
    ...{ jsx: "automatic", jsxImportSource: "preact" },
    external: ["node:*", "prom-client", "undici", "pino", "@kubernetes/client-node"],
  });
  const files = new Map(
    outputFiles.map(({ path, contents }) => [
      path.replace(/^.*\/out\//, ""),
      { type: path.endsWith(".css") ? "text/css" : "text/javascript", bytes: contents },
    ]),
  );
  const names = [...files.keys()];
  const main = names.find((name) => /main-[^/]+\.js$/.test(name))!;
  const css = names.find((name) => /main-[^/]+\.css$/.test(name))!;
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, of]) => [path.replace(/^.*out\//, ""), of]));
  const first = new Set([main, css]);
  for (const name of first)
    for (const { path, kind } of outputs.get(name)?.imports ?? [])
      if (kind === "import-statement") first.add(path.replace(/^.*out\//, ""));
  const index = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Slipway</title><link rel="stylesheet" href="/${css}"><script type="module" src="/${main}"></script></head><body><div id="app"></div></body></html>`;
  const foreign = [...outputs.values()].flatMap(({ imports }) =>
    imports.flatMap(({ path, external }) => (external ? [path] : [])),
  );
  return { index, files, first: [...first], foreign };
}
