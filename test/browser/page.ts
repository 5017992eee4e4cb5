/** The console's page as the server serves it, and what of it is loaded at once. */
import { buildPage } from "../../src/console/server/page-build.ts";
import type { Page } from "../../src/console/server/page-files.ts";

export type BuiltPage = Page;

const textOf = (page: Page, name: string): string => Buffer.from(page.files.get(name)!.bytes).toString();

/** Builds it in memory. */
export const builtPage = (): Promise<BuiltPage> => buildPage();

/** Names of the files that the page loads at once: what its markup names, and what that imports. */
export function firstFiles(page: Page): string[] {
  const first = new Set([...page.index.matchAll(/(?:href|src)="\/(assets\/[^"]+)"/g)].map(([, name]) => name!));
  for (const name of first)
    for (const [, other] of textOf(page, name).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      first.add(`assets/${other}`);
  return [...first];
}

/** What the page's scripts import that is none of its files. */
export function foreignImports(page: Page): string[] {
  const names = [...page.files.keys()].filter((name) => name.endsWith(".js"));
  const imports = /(?:from|import)\s*"((?:node:|prom-client|undici|pino|@kubernetes\/)[^"]*)"/g;
  return names.flatMap((name) => [...textOf(page, name).matchAll(imports)].map(([, what]) => `${name}: ${what}`));
}
