import { Fault, type Log } from "@slipway/base";
import { z } from "zod";
import type { SettingMeta, System } from "../systems/system.ts";
import { SYSTEMS } from "./systems.ts";

/** The settings of systems by their names; what is missing has its defaults. */
export type SystemSettings = Readonly<Record<string, object>>;

/** A setting of a system that is given beside code, and how. */
export interface Setting extends SettingMeta {
  system: string;
  name: string;
  about: string;
  schema: z.ZodType;
  /** As JSON Schema names it. */
  type: "string" | "number" | "integer" | "boolean";
  /** Unset: there is none. */
  default?: unknown;
}

/** The settings of systems that a variable or an option gives, in the order of the systems. */
export function givenSettings(systems: readonly System[] = SYSTEMS): Setting[] {
  return systems.flatMap(({ name: system, settings }) =>
    Object.entries(settings.shape as Record<string, z.ZodType>).flatMap(([name, schema]) => {
      const { description = "", ...meta } = (schema.meta() ?? {}) as SettingMeta & { description?: string };
      if (meta.env === undefined && meta.flag === undefined) return [];
      const { type, default: usual } = z.toJSONSchema(schema, { io: "input" });
      const described = { system, name, about: description, schema, type: (type ?? "string") as Setting["type"] };
      return [{ ...meta, ...described, ...(usual !== undefined && { default: usual }) }];
    }),
  );
}

/** What a setting or a system is for, as a sentence of its own. */
export const sentence = (about: string): string => `${about[0]!.toUpperCase()}${about.slice(1)}.`;

/** What the environment says of the systems' settings; an empty variable says nothing. */
export function settingsFrom(
  env: Readonly<Record<string, string | undefined>>,
  systems: readonly System[] = SYSTEMS,
): Record<string, Record<string, unknown>> {
  return settingsBy(({ env: variable }) => (variable === undefined ? undefined : env[variable] || undefined), systems);
}

/** The settings for which `look` finds a value, by their systems. */
export function settingsBy(
  look: (setting: Setting) => unknown,
  systems: readonly System[] = SYSTEMS,
): Record<string, Record<string, unknown>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const setting of givenSettings(systems)) {
    const value = look(setting);
    if (value !== undefined) found[setting.system] = { ...found[setting.system], [setting.name]: value };
  }
  return found;
}

/** A system's settings, checked and with their defaults. Throws a `Fault` that names what is wrong. */
export function settingsOf(system: System, given: SystemSettings = {}): unknown {
  const { name, settings } = system;
  const read = settings.safeParse(given[name] ?? {});
  if (read.success) return read.data;
  const wrong = new Set(read.error.issues.map(({ path }) => path[0]));
  const ways = givenSettings([system]).flatMap((each) => (wrong.has(each.name) ? (each.env ?? each.flag ?? []) : []));
  throw new Fault("Invalid", `system ${name}`, z.prettifyError(read.error), {
    remedy: `correct ${ways.join(", ") || "its settings"}`,
  });
}

/** The same settings, with what they name read: files, for instance. Rejects with a `Fault`. */
export async function loadedSettings(
  given: SystemSettings,
  log: Log,
  systems: readonly System[] = SYSTEMS,
): Promise<SystemSettings> {
  const loaded: Record<string, object> = { ...given };
  for (const system of systems) {
    if (system.load === undefined) continue;
    const own = settingsOf(system, given) as object;
    loaded[system.name] = { ...own, ...((await system.load(own, { log })) as object) };
  }
  return loaded;
}
