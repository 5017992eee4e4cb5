import { readdirSync } from "node:fs";
import type { Family } from "./step.ts";

const FOLDER = new URL("./families/", import.meta.url);

/** Every family: the default export of each file of `families/`. */
export async function families(): Promise<Family[]> {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".ts"))
    .sort();
  return await Promise.all(names.map(async (name) => (await import(new URL(name, FOLDER).href)).default as Family));
}
