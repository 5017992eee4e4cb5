import { readFile, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { manifestFiles } from "../laptop/manifests.ts";

/** The texts of files, of the YAML files below folders, and of standard input for `-`, in their order. */
export async function manifestTexts(names: readonly string[]): Promise<{ path: string; content: string }[]> {
  const texts: { path: string; content: string }[] = [];
  for (const name of names) {
    if (name === "-") texts.push({ path: "standard input", content: await text(process.stdin) });
    else for (const path of await filesOf(name)) texts.push({ path, content: await readFile(path, "utf8") });
  }
  return texts;
}

const filesOf = async (name: string): Promise<string[]> =>
  (await stat(name)).isDirectory() ? await manifestFiles(name) : [name];
