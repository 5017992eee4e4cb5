import { type Command, InvalidArgumentError, Option } from "commander";
import { givenSettings, type Setting, settingsBy } from "../operator/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { System } from "../systems/system.ts";

/**
 * Adds the options that the systems' settings declare. Their defaults are in the help alone: only what was said is an option's value.
 * `without`: settings that the command sees to itself. `isLaptop`: the defaults are those of a laptop.
 */
export function addSystemOptions(
  command: Command,
  {
    without = () => false,
    systems = SYSTEMS,
    isLaptop = false,
  }: { without?: (setting: Setting) => boolean; systems?: readonly System[]; isLaptop?: boolean } = {},
): Command {
  const onLaptop = new Map(isLaptop ? systems.map(({ name, onLaptop: usual }) => [name, usual]) : []);
  for (const setting of givenSettings(systems)) {
    const usual =
      (onLaptop.get(setting.system) as Record<string, unknown> | undefined)?.[setting.name] ?? setting.default;
    const option = optionOf(setting, usual);
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

/** An option to have a setting otherwise than usual: what is on by itself can be turned off. */
function optionOf({ flag, about, schema, type }: Setting, usual?: unknown): Option | undefined {
  if (flag === undefined) return undefined;
  if (type === "boolean")
    return usual === true ? new Option(flag.replace("--", "--no-"), `do not ${about}`) : new Option(flag, about);
  const option = new Option(flag, usual === undefined ? about : `${about} (default: ${JSON.stringify(usual)})`);
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
