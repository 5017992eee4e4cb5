import { type Command, InvalidArgumentError, Option } from "commander";
import { givenSettings, type Setting, settingsBy } from "../operator/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { System } from "../systems/system.ts";

/** Adds the options that the systems' settings declare. `without`: settings that the command sees to itself. */
export function addSystemOptions(
  command: Command,
  {
    without = () => false,
    systems = SYSTEMS,
  }: { without?: (setting: Setting) => boolean; systems?: readonly System[] } = {},
): Command {
  for (const setting of givenSettings(systems)) {
    const option = optionOf(setting);
    if (option !== undefined && !without(setting)) command.addOption(option);
  }
  return command;
}

/** The systems' settings that options and environment give; options go before. */
export function systemSettings(
  options: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  systems: readonly System[] = SYSTEMS,
): Record<string, Record<string, unknown>> {
  return settingsBy((setting) => {
    const option = optionOf(setting);
    const said = option === undefined ? undefined : options[option.attributeName()];
    return said ?? (setting.env === undefined ? undefined : env[setting.env] || undefined);
  }, systems);
}

function optionOf({ flag, about, schema, type, default: usual }: Setting): Option | undefined {
  if (flag === undefined) return undefined;
  const option = new Option(flag, about);
  if (usual !== undefined) option.default(usual);
  if (type === "boolean") return option;
  return option.argParser((text) => {
    const read = schema.safeParse(type === "number" || type === "integer" ? Number(text) : text);
    if (read.success) return read.data;
    throw new InvalidArgumentError(read.error.issues.map(({ message }) => message).join("; "));
  });
}

/** The help's lines about the variables that the systems read. */
export function variableLines(systems: readonly System[] = SYSTEMS): string {
  return givenSettings(systems)
    .flatMap(({ env, about, system }) => (env === undefined ? [] : [`  ${env.padEnd(17)} ${about} (${system})`]))
    .join("\n");
}
