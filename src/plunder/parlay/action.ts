/**
 * What an action of a parlay map is, once it was read: each field has its effect, or is refused. The original checked `pkg` and `key` and did
 * nothing with them, and took fields that the action's type has no use for.
 */
import { Fault } from "@slipway/base";
import { checkedDocument, type Path, type Problem, type ReadDocument, refused } from "../files/document.ts";
import { isSaid } from "../files/texts.ts";
import { ACTION_TYPES, type ActionFields, TreasureMap } from "../files/treasure-map.ts";
import { packageCommand } from "./packages.ts";

/** Where a command's standard input comes from. Both are of the machine that runs the map. */
export type Input = { is: "file"; path: string } | { is: "output"; command: string };

interface Common {
  name: string;
  ignoreFail: boolean;
  timeoutMs: number;
}

/** `sudo`: as that user, by sudo without a password. */
export type Action = Common &
  (
    | { do: "upload" | "download"; source: string; destination: string; sudo?: string }
    | ({ do: "command" } & Command)
    | { do: "key"; key: string; file?: string }
  );

export interface Command {
  /** A text, or a value that was saved under this name. */
  command: { is: "text"; text: string } | { is: "saved"; key: string };
  /** On the machine that runs the map. */
  isLocal: boolean;
  sudo?: string;
  input?: Input;
  saveFile?: string;
  saveAsKey?: string;
}

export interface Task {
  name: string;
  hosts: readonly string[];
  /** At one time. */
  sessions: number;
  actions: readonly Action[];
}

/** Of an action that names none. The original waited for a year. */
export const USUAL_TIMEOUT_MS = 30 * 60_000;
/** Of a deployment that is `parallel` and names none. */
const USUAL_SESSIONS = 16;

/** Reads a map. Throws `Fault` (`Invalid`) on `source` that names each wrong field by path and line. */
export function tasksOf(document: ReadDocument, source: string): readonly Task[] {
  const map = checkedDocument(TreasureMap, document, source);
  const problems: Problem[] = [];
  const tasks = map.deployments.map((deployment, at) => {
    const { name, hosts, parallel = false, parallelSessions = 0 } = deployment;
    const path: Path = ["deployments", at];
    if (!parallel && parallelSessions > 0)
      problems.push({ path: [...path, "parallelSessions"], message: "has no effect without parallel: true" });
    for (const [index, host] of hosts.entries())
      if (hosts.indexOf(host) !== index) problems.push({ path: [...path, "hosts", index], message: "is named twice" });
    const actions = deployment.actions.flatMap((fields, index) => {
      const read = actionOf(fields);
      const of = (problem: Problem): Problem => ({ ...problem, path: [...path, "actions", index, ...problem.path] });
      problems.push(...read.problems.map(of));
      return read.action === undefined ? [] : [read.action];
    });
    return { name, hosts, sessions: parallel ? parallelSessions || USUAL_SESSIONS : 1, actions };
  });
  if (problems.length > 0) throw refused(problems, document, source);
  return tasks;
}

/** What each type takes beside `name`, `type`, `timeout` and `ignoreFail`. */
const FIELDS: Readonly<Record<(typeof ACTION_TYPES)[number], readonly (keyof ActionFields)[]>> = {
  upload: ["source", "destination", "commandSudo"],
  download: ["source", "destination", "commandSudo"],
  command: [
    ...(["command", "commands", "commandLocal", "commandSaveFile", "commandSaveAsKey", "commandSudo"] as const),
    ...(["commandPipeFile", "commandPipeCmd", "keyName"] as const),
  ],
  pkg: ["packageManager", "packageOperation", "packages", "commandSudo"],
  key: ["keyFile", "keyName"],
};

const COMMON: readonly (keyof ActionFields)[] = ["name", "type", "timeout", "ignoreFail"];

function actionOf(fields: ActionFields): { action?: Action; problems: Problem[] } {
  const type = ACTION_TYPES.find((each) => each === fields.type);
  if (type === undefined) {
    const message = `is none of ${ACTION_TYPES.join(", ")}; plugins are not loaded: write what it does as a command`;
    return { problems: [{ path: ["type"], message }] };
  }
  const problems: Problem[] = [];
  const known = [...COMMON, ...FIELDS[type]];
  for (const [field, value] of Object.entries(fields))
    if (!known.includes(field as keyof ActionFields) && isGiven(value))
      problems.push({ path: [field], message: withoutEffect(field, type) });
  const need = (field: keyof ActionFields, message = `${type} needs it`): void => {
    if (!isGiven(fields[field])) problems.push({ path: [field], message });
  };
  const common = {
    name: fields.name,
    ignoreFail: fields.ignoreFail ?? false,
    timeoutMs: fields.timeout ? fields.timeout * 1000 : USUAL_TIMEOUT_MS,
  };
  const sudo = isSaid(fields.commandSudo) && { sudo: fields.commandSudo };
  switch (type) {
    case "upload":
    case "download": {
      need("source");
      need("destination");
      const { source = "", destination = "" } = fields;
      return { action: { ...common, do: type, source, destination, ...sudo }, problems };
    }
    case "command":
      return { action: { ...common, do: "command", ...commandOf(fields, problems) }, problems };
    case "pkg": {
      const text = packageCommand(fields, problems);
      return { action: { ...common, do: "command", command: { is: "text", text }, isLocal: false, ...sudo }, problems };
    }
    case "key": {
      need("keyName");
      const { keyName: key = "", keyFile } = fields;
      return { action: { ...common, do: "key", key, ...(isSaid(keyFile) && { file: keyFile }) }, problems };
    }
  }
}

function commandOf(fields: ActionFields, problems: Problem[]): Command {
  problems.push(...commandProblems(fields));
  const { commandLocal: isLocal = false, commandSudo, commandSaveFile: saveFile, commandSaveAsKey: key } = fields;
  const input = inputOf(fields);
  return {
    command: textOf(fields),
    isLocal,
    ...(isSaid(commandSudo) && { sudo: commandSudo }),
    ...(input !== undefined && { input }),
    ...(isSaid(saveFile) && { saveFile }),
    ...(isSaid(key) && { saveAsKey: key }),
  };
}

function commandProblems(fields: ActionFields): Problem[] {
  const problems: Problem[] = [];
  const given = (["command", "commands", "keyName"] as const).filter((field) => isGiven(fields[field]));
  if (given.length !== 1)
    problems.push({ path: [given[1] ?? "command"], message: "one of command, commands and keyName is needed" });
  for (const [at, text] of [fields.command ?? "", ...(fields.commands ?? [])].entries())
    if (text.includes("\0"))
      problems.push({ path: at === 0 ? ["command"] : ["commands", at - 1], message: "must have no NUL" });
  if (isGiven(fields.commandPipeFile) && isGiven(fields.commandPipeCmd))
    problems.push({ path: ["commandPipeCmd"], message: "commandPipeFile is given, too: there is one standard input" });
  return problems;
}

/** Several are one script, which ends with the first that fails. */
function textOf({ command, commands, keyName }: ActionFields): Command["command"] {
  if (isSaid(keyName)) return { is: "saved", key: keyName };
  return { is: "text", text: isSaid(command) ? command : ["set -e", ...(commands ?? [])].join("\n") };
}

function inputOf({ commandPipeFile: path, commandPipeCmd: command }: ActionFields): Input | undefined {
  if (isSaid(path)) return { is: "file", path };
  return isSaid(command) ? { is: "output", command } : undefined;
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

function withoutEffect(field: string, type: string): string {
  if (field === "fileMove") return "its meaning is not known: use destination, or a command that moves the file";
  if (field === "plugin") return "plugins are not loaded: write what it does as a command";
  return `has no effect with ${type}`;
}

/** What a map may not do when it comes over the network: it would do so on the machine that serves it. Throws a `Fault` (`Forbidden`) that names the action. */
export function refuseLocalCommands(tasks: readonly Task[]): void {
  for (const { actions } of tasks)
    for (const action of actions)
      if (action.do === "command" && (action.isLocal || action.input?.is === "output"))
        throw new Fault(
          "Forbidden",
          action.name,
          "commands on the machine that serves the API are not run over the network",
          {
            remedy: "run the map with slipway parlay on a machine of yours",
          },
        );
}
