import { Fault, rfc3339 } from "@slipway/base";

/** One boot of one machine: what it is given, until when, and how far it came. Kept in a Secret per claim, because it holds secrets. */
export interface BootRecord {
  capability: string;
  /** ms since the epoch; nothing is served afterwards. */
  expiresAt: number;
  /** iPXE script. Empty: none is served. May be replaced while the boot lasts. */
  script: string;
  /** Configuration of the installed system, with its secrets. Empty: none is served. */
  config: string;
  /** What the machine is called, as cloud-init's meta data. Unset: none is served. */
  metaData?: string;
  /** When and by which address the configuration was fetched first, ms since the epoch. */
  firstConfigFetchAt?: number;
  firstConfigFetchFrom?: string;
  /** Nothing is served any more. */
  closed?: boolean;
}

/** What the boot service saw of a machine. */
export interface BootSignal {
  kind: "scriptFetched" | "configFetched" | "started" | "succeeded" | "failed";
  /** ms since the epoch. */
  at: number;
  /** The machine's address as the transport saw it. */
  remote: string;
  /** Names the boot without giving its capability away. */
  bootId: string;
  /** What the installer had to say, one line. */
  message?: string;
}

/** For how long after the first fetch the same address may fetch the configuration again: an answer may get lost. */
export const CONFIG_RETRY_MS = 2 * 60_000;
/** For how long after its end a boot may still report: an installation that began in time may end late. */
export const LATE_EVENTS_MS = 6 * 60 * 60_000;

/** The record after a signal; the very same object when the signal changes nothing. The first configuration fetch is never overwritten. */
export function afterSignal(record: BootRecord, signal: BootSignal): BootRecord {
  if (signal.kind === "configFetched" && record.firstConfigFetchAt === undefined)
    return { ...record, firstConfigFetchAt: signal.at, firstConfigFetchFrom: signal.remote };
  if (signal.kind === "succeeded" && record.closed !== true) return { ...record, closed: true };
  return record;
}

/** Whether `remote` may have the configuration now; `first`: yes, once its fetch has been recorded. */
export function configAccess(record: BootRecord, remote: string, now: number): "first" | "again" | "gone" {
  if (isOver(record, now) || record.config === "") return "gone";
  if (record.firstConfigFetchAt === undefined) return "first";
  const soon = now - record.firstConfigFetchAt <= CONFIG_RETRY_MS;
  return soon && record.firstConfigFetchFrom === remote ? "again" : "gone";
}

/** Whether the boot is closed or has expired. `now`: ms since 1970. */
export function isOver(record: BootRecord, now: number): boolean {
  return record.closed === true || now >= record.expiresAt;
}

/** The record as `data` of a Secret (base64). Times are RFC 3339, whole seconds. */
export function encodeBootRecord(record: BootRecord): Record<string, string> {
  const text: Record<string, string> = {
    capability: record.capability,
    expiresAt: rfc3339(record.expiresAt),
    script: record.script,
    config: record.config,
    ...(record.metaData === undefined ? {} : { metaData: record.metaData }),
    ...(record.firstConfigFetchAt === undefined ? {} : { firstConfigFetchAt: rfc3339(record.firstConfigFetchAt) }),
    ...(record.firstConfigFetchFrom === undefined ? {} : { firstConfigFetchFrom: record.firstConfigFetchFrom }),
    ...(record.closed === undefined ? {} : { closed: String(record.closed) }),
  };
  return Object.fromEntries(Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}

/** Reads a Secret's `data`. Throws `Fault` (`Invalid`) that names the key; its value is not part of the message. Keys it does not know are left alone. */
export function decodeBootRecord(data: Readonly<Record<string, string>>): BootRecord {
  const optional = (key: string): string | undefined =>
    data[key] === undefined ? undefined : Buffer.from(data[key], "base64").toString();
  const text = (key: string): string => optional(key) ?? unreadable(key, "is missing");
  const time = (key: string): number => {
    const ms = Date.parse(text(key));
    return Number.isNaN(ms) ? unreadable(key, "is not a time") : ms;
  };
  const capability = text("capability");
  if (!/^[A-Za-z0-9_-]{43}$/.test(capability)) unreadable("capability", "is not a capability");
  const from = optional("firstConfigFetchFrom");
  const closed = optional("closed");
  const metaData = optional("metaData");
  return {
    capability,
    expiresAt: time("expiresAt"),
    script: text("script"),
    config: text("config"),
    ...(metaData === undefined ? {} : { metaData }),
    ...(data.firstConfigFetchAt === undefined ? {} : { firstConfigFetchAt: time("firstConfigFetchAt") }),
    ...(from === undefined ? {} : { firstConfigFetchFrom: from }),
    ...(closed === undefined ? {} : { closed: closed === "true" }),
  };
}

function unreadable(key: string, why: string): never {
  throw new Fault("Invalid", "boot record", `key ${key} ${why}`, {
    remedy: "delete the Secret; the next boot gets a new one",
  });
}
