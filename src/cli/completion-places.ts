import { type Command, Help } from "commander";

/** Where a word can be typed: behind these commands (none: first). */
export interface Place {
  path: readonly string[];
  /** Commands, or what an argument can be. */
  words: readonly { name: string; description: string }[];
  options: readonly { names: readonly string[]; values: readonly string[]; asks?: Asked | undefined }[];
  /** What of the cluster an argument can be. */
  asks?: Asked | undefined;
}

/** What `slipway complete` prints of a cluster. */
export type Asked = "objects" | "namespaces";

/** Arguments that name objects of a cluster. */
const OBJECT_ARGUMENTS: readonly string[] = ["object", "kind"];

/** What can be typed, read from the commands themselves. */
export function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const help = new Help();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const words = [
    ...commands.map((one) => ({ name: one.name(), description: quotable(one.description()) })),
    ...choices.map((name) => ({ name, description: "" })),
  ];
  const options = help.visibleOptions(command).map(({ long, short, argChoices = [] }) => ({
    names: [long, short].filter((name) => name !== undefined && name !== null),
    values: argChoices,
    asks: long === "--namespace" ? ("namespaces" as const) : undefined,
  }));
  const asks = command.registeredArguments.some((one) => OBJECT_ARGUMENTS.includes(one.name()))
    ? ("objects" as const)
    : undefined;
  // Commander's own `help` takes the names of its neighbours, which its tree does not say.
  const inner = command.commands.flatMap((one) => placesOf(one, [...path, one.name()]));
  return [{ path, words, options, asks }, ...inner];
}

function quotable(text: string): string {
  return text.replaceAll(/[`'":$\\]/g, "");
}
