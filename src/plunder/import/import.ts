/**
 * plunder's files as Slipway's: what each field becomes, and which can't be kept. Takes the server's configuration, deployments, the API's answers with
 * either, and pldrctl's files. Nothing is applied; pure but for the salt of password hashes.
 */
import { Fault } from "@slipway/base";
import { dump } from "js-yaml";
import { Deployment, Deployments, HostConfig } from "../files/deployment.ts";
import { checkedDocument, type Path, pathText, type ReadDocument, readDocument } from "../files/document.ts";
import { ServerConfig } from "../files/server-config.ts";
import { deploymentNotes, globalNotes, hostObjects, profileObjects } from "./hosts.ts";
import type { Note } from "./note.ts";
import { serverNotes, settingsOf } from "./server.ts";

export interface FileNotes {
  name: string;
  notes: readonly (Note & { line: number })[];
}

export interface Imported {
  notes: readonly FileNotes[];
  /** By name: netboot's settings, hosts, and the profiles by which they are installed. They may hold password hashes. */
  files: Readonly<Record<string, string>>;
}

interface Read {
  name: string;
  document: ReadDocument;
  /** What the file is in, where it is an answer or a file of pldrctl's. */
  around: Path;
  /** How many parts of a path the file leaves out: it is one deployment, or what all have in common. */
  leavesOut?: number;
  server?: ServerConfig;
  deployments?: Deployments;
}

/** Reads files. Throws `Fault` (`Invalid`) that names file, line and path of what can't be read. */
export function readPlunderFiles(texts: readonly { name: string; text: string }[]): Imported {
  const read = texts.map(({ name, text }) => readOne(name, text));
  const servers = read.flatMap(({ server }) => (server === undefined ? [] : [server]));
  if (servers.length > 1)
    throw new Fault("Invalid", texts.map(({ name }) => name).join(", "), "two of them are configurations of a server");
  const [server] = servers;
  const deployments = read.flatMap(({ deployments: all }) => (all === undefined ? [] : [all]));
  const all: Deployments = {
    globalConfig: Object.assign({}, ...deployments.map(({ globalConfig }) => globalConfig)) as HostConfig,
    deployments: deployments.flatMap((each) => each.deployments),
  };
  const bootConfigs = server?.bootConfigs ?? [];
  const notes = read.map((each) => ({ name: each.name, notes: notesOf(each, { all, server }) }));
  const hosts = hostObjects(all);
  const profiles = profileObjects(all, bootConfigs);
  const files = {
    ...(server !== undefined && { "netboot.yaml": dump(settingsOf(server, all)) }),
    ...(hosts.length > 0 && { "hosts.yaml": documents(hosts) }),
    ...(profiles.length > 0 && { "profiles.yaml": documents(profiles) }),
  };
  return { notes, files };
}

/** A line for each field. */
export function shownImport({ notes }: Imported): string[] {
  return notes.flatMap(({ name, notes: of }) =>
    of.map(({ line, path, becomes, lost }) => {
      const what =
        becomes === undefined ? `can't be kept: ${lost}` : `→ ${becomes}${lost === undefined ? "" : `; ${lost}`}`;
      return `${name}:${line}  ${pathText(path)}  ${what}`;
    }),
  );
}

function documents(objects: readonly object[]): string {
  return objects.map((object) => dump(object)).join("---\n");
}

function readOne(name: string, text: string): Read {
  const whole = readDocument(text, name);
  const { document, around, definition } = unwrapped(whole, name);
  const value = document.value;
  const has = (key: string): boolean => typeof value === "object" && value !== null && key in value;
  if (definition === "parlay") throw new Fault("Invalid", name, "is a map", { remedy: "run it with slipway parlay" });
  if (definition === "deployment") {
    const deployments = [checkedDocument(Deployment, document, name)];
    return { name, document, around, leavesOut: 2, deployments: { globalConfig: {}, deployments } };
  }
  if (definition === "globalConfig") {
    const globalConfig = checkedDocument(HostConfig, document, name);
    return { name, document, around, leavesOut: 1, deployments: { globalConfig, deployments: [] } };
  }
  if (has("deployments") || has("globalConfig"))
    return { name, document, around, deployments: checkedDocument(Deployments, document, name) };
  if (["bootConfigs", "enableDHCP", "enableTFTP", "enableHTTP", "adapter", "dhcpConfig"].some(has))
    return { name, document, around, server: checkedDocument(ServerConfig, document, name) };
  throw new Fault("Invalid", name, "is neither a configuration of plunder's server nor deployments", {
    remedy: "the first has bootConfigs, the second deployments",
  });
}

/** The API's answer has `payload`, pldrctl's file `definition` and `resource`. */
function unwrapped(whole: ReadDocument, name: string): { document: ReadDocument; around: Path; definition?: string } {
  const { value, lineOf } = whole;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { document: whole, around: [] };
  const within = (key: "payload" | "resource", definition?: string) => ({
    document: { value: (value as Record<string, unknown>)[key], lineOf: (path: Path) => lineOf([key, ...path]) },
    around: [key],
    ...(definition !== undefined && { definition }),
  });
  if ("payload" in value) return within("payload");
  if (!("definition" in value)) return { document: whole, around: [] };
  const { definition } = value;
  const known = ["deployment", "deployments", "globalConfig", "parlay"];
  if (typeof definition === "string" && known.includes(definition)) return within("resource", definition);
  throw new Fault("Invalid", name, `line ${lineOf(["definition"])}, definition: is none of ${known.join(", ")}`);
}

function notesOf(
  { document, around, leavesOut = 0, server, deployments }: Read,
  { all, server: config }: { all: Deployments; server: ServerConfig | undefined },
): (Note & { line: number })[] {
  const notes = [
    ...(server === undefined ? [] : serverNotes(server)),
    ...(deployments === undefined
      ? []
      : [...globalNotes(deployments.globalConfig), ...deploymentNotes(deployments, all, config?.bootConfigs)]),
  ];
  return notes
    .map((note) => ({ ...note, path: note.path.slice(leavesOut) }))
    .map((note) => ({ ...note, path: [...around, ...note.path], line: document.lineOf(note.path) }))
    .sort((a, b) => a.line - b.line);
}
