import { readFile } from "node:fs/promises";
import { Fault } from "@slipway/base";
import { loadAll, YAMLException } from "js-yaml";
import { type NetbootSettings, netbootSettings } from "./settings.ts";

/** The settings in a YAML file, checked. Rejects with a `Fault`, or with the system's error for a file that can't be read. */
export async function settingsIn(path: string): Promise<NetbootSettings> {
  return netbootSettings(await settingsFile(path), path);
}

/** What a YAML file says, unchecked; a name without a value says nothing. Rejects as `settingsIn`. */
export async function settingsFile(path: string): Promise<Record<string, unknown>> {
  const yaml = await readFile(path, "utf8");
  let documents: unknown[];
  try {
    documents = loadAll(yaml);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark ? `:${error.mark.line + 1}` : "";
    throw new Fault("Invalid", `${path}${line}`, `not YAML: ${error.reason}`, { remedy: "correct the file" });
  }
  if (documents.length > 1)
    throw new Fault("Invalid", path, "there is more than one document", { remedy: "write all settings into one" });
  // A file in which nothing is said leaves everything as it is without one.
  const read = documents[0] ?? {};
  if (isPart(read)) return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== null));
  throw new Fault("Invalid", path, "settings are names with values");
}

/** Whether it holds named values of its own. */
export function isPart(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
