import { Fault } from "@slipway/base";
import { z } from "zod";
import type { System } from "../systems/system.ts";
import { SYSTEMS } from "./systems.ts";

/** The settings of systems by their names; what is missing has its defaults. */
export type SystemSettings = Readonly<Record<string, object>>;

/** A setting that an environment variable gives. */
export interface EnvironmentSetting {
  system: string;
  setting: string;
  variable: string;
  about: string;
}

/** The settings that environment variables give, in the order of the systems. */
export function environmentSettings(systems: readonly System[] = SYSTEMS): EnvironmentSetting[] {
  return systems.flatMap(({ name, settings }) =>
    Object.entries(settings.shape).flatMap(([setting, schema]) => {
      const { env, description = "" } = (schema as z.ZodType).meta() ?? {};
      return typeof env === "string" ? [{ system: name, setting, variable: env, about: description }] : [];
    }),
  );
}

/** What the environment says of the systems' settings; an empty variable says nothing. */
export function settingsFrom(
  env: Readonly<Record<string, string | undefined>>,
  systems: readonly System[] = SYSTEMS,
): Record<string, Record<string, unknown>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const { system, setting, variable } of environmentSettings(systems)) {
    const value = env[variable];
    if (value) found[system] = { ...found[system], [setting]: value };
  }
  return found;
}

/** A system's settings, checked and with their defaults. Throws a `Fault` that names what is wrong. */
export function settingsOf({ name, settings }: System, given: SystemSettings = {}): unknown {
  const read = settings.safeParse(given[name] ?? {});
  if (read.success) return read.data;
  throw new Fault("Invalid", `system ${name}`, z.prettifyError(read.error), { remedy: "correct its settings" });
}
