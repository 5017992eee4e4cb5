import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Fault } from "@slipway/base";
import { PAGE_SOURCE, type Page, typeOf } from "./page-files.ts";

const MARK = "<!-- assets -->";
const INDEX = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway</title>
${MARK}
</head>
<body><div id="app"></div></body>
</html>
`;

/** Builds the page from its sources, in memory; names hold a hash of the content. Rejects with a `Fault` that quotes the first error. */
export async function buildPage(source = PAGE_SOURCE): Promise<Page> {
  const { build } = await import("esbuild").catch((cause: unknown) => {
    throw new Fault("MissingInput", "esbuild", "it is not installed, and the console's page was not built", {
      remedy: "run npm ci, or make bundle",
      cause,
    });
  });
  const folder = dirname(source);
  const out = join(folder, "out");
  const { outputFiles, errors } = await build({
    absWorkingDir: folder,
    entryPoints: { main: source },
    outdir: out,
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    assetNames: "assets/[name]-[hash]",
    publicPath: "/",
    bundle: true,
    splitting: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    // What the page does not use of @slipway/base and @slipway/kube falls out, and these imports with it.
    external: ["node:*", "prom-client", "undici", "pino", "@kubernetes/client-node"],
    define: { "process.env.NODE_ENV": '"production"' },
    loader: { ".woff2": "file", ".svg": "file", ".png": "file", ".webp": "file" },
    logLevel: "silent",
  }).catch((cause: { errors?: { text: string; location?: { file: string; line: number } | null }[] }) => {
    const [first] = cause.errors ?? [];
    const at = first?.location ? `${first.location.file}:${first.location.line}: ` : "";
    throw new Fault("Invalid", source, `the console's page can't be built: ${at}${first?.text ?? String(cause)}`, {
      cause,
    });
  });
  if (errors.length > 0) throw new Fault("Invalid", source, errors[0]!.text);
  const files = new Map(
    outputFiles.map(({ path, contents }) => [
      relative(out, path),
      { type: typeOf(path), bytes: Buffer.from(contents) },
    ]),
  );
  const named = (pattern: RegExp): string[] => [...files.keys()].filter((name) => pattern.test(name));
  const tags = [
    ...named(/^assets\/main-[^/]+\.css$/).map((name) => `<link rel="stylesheet" href="/${name}">`),
    ...named(/^assets\/main-[^/]+\.js$/).map((name) => `<script type="module" src="/${name}"></script>`),
  ].join("\n");
  const own = join(folder, "index.html");
  const index = existsSync(own) ? readFileSync(own, "utf8") : INDEX;
  return { index: index.replace(MARK, tags), files };
}
