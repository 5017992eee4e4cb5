import { isFault } from "@slipway/base";
import type { FirmwareSetting } from "../bmc.ts";
import { at, type Body, linkAt, linksAt, textAt } from "./body.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { unlessMissing } from "./identity.ts";

/** No firmware has more; what is beyond is left out. */
const MOST_SETTINGS = 5_000;
const MOST_REGISTRIES = 64;
const TYPES = ["Enumeration", "String", "Integer", "Boolean", "Password"] as const;

/** The attributes of the machine's Bios resource, with the limits of its attribute registry where the BMC has that. */
export async function firmwareSettingsOf(
  connection: RedfishConnection,
  system: Resource,
  signal: AbortSignal,
): Promise<readonly FirmwareSetting[]> {
  const link = linkAt(system.body, "Bios");
  if (link === undefined) return [];
  const { body } = await connection.get(connection.pathOf(link), signal);
  const values = Object.entries((at(body, "Attributes") ?? {}) as Body).slice(0, MOST_SETTINGS);
  const entries = await registryEntries(connection, textAt(body, "AttributeRegistry"), signal);
  const about = new Map(entries.flatMap((entry) => nameAnd(entry)));
  return values.map(([name, value]) => ({
    name,
    value: typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null,
    ...limitsOf(about.get(name)),
  }));
}

function nameAnd(entry: unknown): [string, unknown][] {
  const name = textAt(entry, "AttributeName");
  return name === undefined ? [] : [[name, entry]];
}

function limitsOf(entry: unknown): Partial<FirmwareSetting> {
  const type = TYPES.find((one) => one === textAt(entry, "Type"));
  const values = at(entry, "Value");
  const allowed = Array.isArray(values) ? values.flatMap((one) => textAt(one, "ValueName") ?? []) : undefined;
  const readOnly = at(entry, "ReadOnly");
  const bound = (name: string, of: string): Partial<FirmwareSetting> => {
    const value = at(entry, of);
    return typeof value === "number" ? { [name]: value } : {};
  };
  return {
    ...(type !== undefined && { type }),
    ...(type === "Enumeration" && allowed !== undefined && { allowed }),
    ...(typeof readOnly === "boolean" && { readOnly }),
    ...bound("least", "LowerBound"),
    ...bound("most", "UpperBound"),
    ...bound("minLength", "MinLength"),
    ...bound("maxLength", "MaxLength"),
  };
}

/** The entries of a registry by its id. Without it the settings have no limits, and are shown all the same. */
async function registryEntries(
  connection: RedfishConnection,
  registry: string | undefined,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (registry === undefined) return [];
  try {
    const uri = await registryUri(connection, registry, signal);
    if (uri === undefined) return [];
    const found = at((await connection.get(connection.pathOf(uri), signal)).body, "RegistryEntries", "Attributes");
    return Array.isArray(found) ? found : [];
  } catch (error) {
    if (!isFault(error, "NotFound", "Unsupported")) throw error;
    return [];
  }
}

/** Where the registry's file is, by the first entry of the BMC's list that has its id; undefined: nobody says. */
async function registryUri(
  connection: RedfishConnection,
  registry: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { body } = await connection.get("/redfish/v1/Registries", signal);
  const named = linksAt(body, "Members").slice(0, MOST_REGISTRIES);
  // The id of the file is that of the registry, with or without its version.
  const likely = named.filter((link) => registry.startsWith(lastIn(link)));
  for (const link of [...likely, ...named.filter((one) => !likely.includes(one))]) {
    const file = (await unlessMissing(connection, link, signal))?.body;
    const id = textAt(file, "Registry") ?? textAt(file, "Id") ?? "";
    if (id === "" || !registry.startsWith(id)) continue;
    const locations = at(file, "Location");
    return Array.isArray(locations) ? locations.flatMap((one) => textAt(one, "Uri") ?? [])[0] : undefined;
  }
  return undefined;
}

/** The last name in a link; as it is where its escapes are none. */
function lastIn(link: string): string {
  const last = link.split("/").at(-1)!;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
