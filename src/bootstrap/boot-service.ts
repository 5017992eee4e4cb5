/**
 * Serves each boot of a machine what it may have, behind a URL that only this boot knows: its iPXE script, its
 * configuration (once), and a place to report to. Needs a store of boot records, a clock and a log; knows no socket
 * and no Kubernetes object. A capability or a configuration never reaches the log.
 */
import {
  asFault,
  type Clock,
  Fault,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  type Log,
  plain,
} from "@slipway/base";
import { type BootRecord, type BootSignal, configAccess, isOver, LATE_EVENTS_MS } from "./boot-record.ts";
import { type BootAddress, bootIdOf, parseBootUrl, sameCapability } from "./boot-url.ts";
import { GuessLimit } from "./guess-limit.ts";

/** Where boot records live, by claim. */
export interface BootRecords {
  /**
   * Undefined: no boot is under way for the claim. May be a few seconds old where `capability` is the record's; for every other capability
   * it is the record as it is now.
   */
  load(claim: string, capability: string): Promise<BootRecord | undefined>;
  /**
   * Stores `afterSignal` of the record as it is now, guarded against a writer in between, and wakes the claim's controller.
   * Resolves with what is stored then; undefined when the record is gone or of another boot. `seen` is what the service decided on: when the signal changes nothing in it, nothing need be written.
   */
  note(claim: string, signal: BootSignal, seen: BootRecord): Promise<BootRecord | undefined>;
}

export interface BootServicePorts {
  records: BootRecords;
  clock: Clock;
  log: Log;
}

interface Visit extends BootAddress {
  method: HttpRequest["method"];
  body: string;
  remote: string;
  record: BootRecord;
  bootId: string;
}

const MAX_URL = 2048;
const MAX_MESSAGE = 256;
const RETRY_SECONDS = 10;

/** Of the server that it stands behind: anybody who reaches it may send, and a report is short. */
export const BOOT_LIMITS = { maxBodyBytes: 16 * 1024, maxConnections: 4_000 };
const MINUTE_MS = 60_000;

const READ: readonly string[] = ["GET", "HEAD"];
const REPORT: readonly string[] = ["POST", "PUT"];

/**
 * Answers `/boot/<claim>/<capability>/<what>`: 200 with the text, 204 for a report, 404 for whatever is not known (claim and capability
 * alike), 410 when it is over, 429 after many wrong guesses, 503 with Retry-After when a record can't be read or a first fetch not be recorded.
 */
export function bootService({ records, clock, log }: BootServicePorts): HttpHandler {
  // They count and slow down wrong guesses only: machines behind one address share it with others, old boots of their
  // neighbours included. Valid capabilities are never limited.
  const perAddress = new GuessLimit(clock, { most: 120, windowMs: MINUTE_MS, keys: 10_000 });
  const perClaim = new GuessLimit(clock, { most: 10, windowMs: MINUTE_MS, keys: 10_000 });

  const unknown = (remote: string, claim: string): HttpAnswer => {
    const waitMs = Math.max(perAddress.waitMs(remote), perClaim.waitMs(`${remote} ${claim}`));
    if (waitMs > 0) return text(429, "too many wrong attempts\n", { "retry-after": String(Math.ceil(waitMs / 1000)) });
    perAddress.wrong(remote);
    perClaim.wrong(`${remote} ${claim}`);
    return text(404, "not found\n");
  };

  const note = (visit: Visit, kind: BootSignal["kind"], message = ""): Promise<BootRecord | undefined> => {
    const { claim, remote, bootId, record } = visit;
    const signal = { kind, at: clock.now(), remote, bootId, ...(message === "" ? {} : { message }) };
    return records.note(claim, signal, record);
  };

  const script = async (visit: Visit): Promise<HttpAnswer> => {
    if (isOver(visit.record, clock.now()) || visit.record.script === "") return gone();
    if (visit.method === "GET")
      // The script holds no secret and the machine may have only this one chance: it is served even if the note fails.
      await note(visit, "scriptFetched").catch((error: unknown) =>
        log.warn(about(visit, error), "boot signal not noted"),
      );
    return text(200, visit.record.script);
  };

  const config = async (visit: Visit): Promise<HttpAnswer> => {
    const access = configAccess(visit.record, visit.remote, clock.now());
    if (access === "gone") return gone();
    if (access === "again" || visit.method === "HEAD") return text(200, visit.record.config);
    // Recorded before it is served: neither a crash nor a second server can give it twice. What was stored decides.
    const stored = await note(visit, "configFetched");
    if (stored === undefined || configAccess(stored, visit.remote, clock.now()) !== "again") return gone();
    return text(200, stored.config);
  };

  /** Names, no secrets: they may be asked for as often as the boot lasts. */
  const open = async ({ record }: Visit, said: string | undefined): Promise<HttpAnswer> =>
    isOver(record, clock.now()) || said === undefined ? gone() : text(200, said);

  const report = async (visit: Visit, kind: "started" | "succeeded" | "failed"): Promise<HttpAnswer> => {
    if (clock.now() >= visit.record.expiresAt + LATE_EVENTS_MS) return gone();
    // A repeated report of a boot that has ended is a lost answer, not news.
    if (visit.record.closed !== true) await note(visit, kind, oneLine(visit.body, visit.capability));
    return text(204, "");
  };

  const answer = (visit: Visit): Promise<HttpAnswer> => {
    switch (visit.what) {
      case "ipxe":
        return script(visit);
      case "config":
      case "user-data":
        return config(visit);
      case "meta-data":
      // There are none, but without an answer cloud-init asks eleven times.
      case "vendor-data":
        return open(visit, visit.what === "meta-data" ? visit.record.metaData : "");
      case "events/started":
        return report(visit, "started");
      case "events/succeeded":
        return report(visit, "succeeded");
      case "events/failed":
        return report(visit, "failed");
    }
  };

  return async (request) => {
    const { method, remote } = request;
    if (request.url.length > MAX_URL) return text(414, "the URL is too long\n");
    const address = parseBootUrl(request.url);
    const claim = address?.claim ?? "";
    if (address === undefined) return unknown(remote, claim);
    const allowed = address.what.startsWith("events/") ? REPORT : READ;
    if (!allowed.includes(method)) return text(405, "method not allowed\n", { allow: allowed.join(", ") });

    try {
      const visit = await visitOf(records, request, address);
      if (visit === undefined) return unknown(remote, claim);
      const done = await answer(visit);
      log.info({ claim, bootId: visit.bootId, what: visit.what, method, remote, status: done.status }, "boot request");
      return method === "HEAD" ? { ...done, body: "" } : done;
    } catch (error) {
      log.warn({ claim, what: address.what, remote, ...reason(error) }, "boot request failed");
      return text(503, "try again\n", { "retry-after": String(RETRY_SECONDS) });
    }
  };
}

/** Undefined: there is no such claim, or its capability is another. */
async function visitOf(
  records: BootRecords,
  { method, remote, body = "" }: Parameters<HttpHandler>[0],
  address: BootAddress,
): Promise<Visit | undefined> {
  const record = await records.load(address.claim, address.capability);
  // Compared even without a record: an unknown claim takes as long as a wrong capability.
  const same = sameCapability(address.capability, record?.capability ?? "");
  if (!same || record === undefined) return undefined;
  return { ...address, method, remote, record, body, bootId: bootIdOf(record.capability) };
}

function text(status: number, body: string, headers: Record<string, string> = {}): HttpAnswer {
  return plain(status, body, { "cache-control": "no-store", ...headers });
}

function gone(): HttpAnswer {
  return text(410, "gone\n");
}

/** What an installer reports ends up in events and statuses: one line, bounded, printable, without the capability. */
function oneLine(body: string, capability: string): string {
  return (
    body
      // Before anything is cut off: a part of a capability would not be found.
      .replaceAll(capability, "[redacted]")
      .slice(0, 4 * MAX_MESSAGE)
      .replace(/[^\x20-\x7e]+/g, " ")
      .trim()
      .slice(0, MAX_MESSAGE)
  );
}

function about(visit: Visit, error: unknown): object {
  return { claim: visit.claim, bootId: visit.bootId, what: visit.what, ...reason(error) };
}

/** Only faults say what happened: another error's text may quote what it choked on. */
function reason(error: unknown): object {
  return error instanceof Fault ? { code: error.code, reason: error.message } : { code: asFault(error, "boot").code };
}
