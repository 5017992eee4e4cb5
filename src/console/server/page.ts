import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import { shippedFolder } from "@slipway/base/shipped";
import { PAGE_SOURCE, type Page, typeOf } from "./page-files.ts";

/** Of a bundle: written beside the code by `make bundle`. */
const BUILT = join(import.meta.dirname, "console-page");

/** The page: as it was built into the bundle, else built from the sources now. Rejects with a `Fault` when there is neither. */
export async function loadPage({ built = shippedFolder(BUILT), source = PAGE_SOURCE } = {}): Promise<Page> {
  if (existsSync(join(built, "index.html"))) return readPage(built);
  if (existsSync(source)) {
    const { buildPage } = await import("./page-build.ts");
    return buildPage(source);
  }
  throw new Fault("NotFound", built, "the console's page was not built", {
    remedy: "build the bundle anew: make bundle",
  });
}

function readPage(folder: string): Page {
  const names = readdirSync(join(folder, "assets")).sort();
  return {
    index: readFileSync(join(folder, "index.html"), "utf8"),
    files: new Map(
      names.map((name) => [
        `assets/${name}`,
        { type: typeOf(name), bytes: readFileSync(join(folder, "assets", name)) },
      ]),
    ),
  };
}
