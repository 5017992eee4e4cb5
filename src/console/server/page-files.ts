import { extname, join } from "node:path";

/** Of a tree of sources. */
export const PAGE_SOURCE = join(import.meta.dirname, "../web/main.tsx");

/** The console's page as it is served: everything is in memory, so no request names a file. */
export interface Page {
  index: string;
  /** By their paths below `/`, with a hash of the content in each: `assets/main-ABCDEFGH.js`. */
  files: ReadonlyMap<string, PageFile>;
}

export interface PageFile {
  type: string;
  bytes: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** Media type of a file by its name. */
export function typeOf(name: string): string {
  return TYPES[extname(name)] ?? "application/octet-stream";
}
