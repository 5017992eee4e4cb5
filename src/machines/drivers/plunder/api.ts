import { X509Certificate } from "node:crypto";
import { type Clock, Fault, type Http, isFault } from "@slipway/base";
import type { z } from "zod";
import type { ClientCertificate } from "../../provider.ts";
import { type ApiCall, openApi, redirected } from "../session.ts";
import {
  MACHINES_PATH,
  type ServedMachine,
  ServedMachines,
  WAITING_PATH,
  type WaitingMachine,
  WaitingMachines,
  type WantedMachine,
} from "./wire.ts";

export interface NetbootApi {
  /** All that somebody has, or those of one claim; with what was wiped. Rejects with a `Fault`. */
  machines(claim?: string, signal?: AbortSignal): Promise<readonly ServedMachine[]>;
  waiting(withHardware: boolean, signal?: AbortSignal): Promise<readonly WaitingMachine[]>;
  /** The same for a claim that has this machine already. Rejects with a `Fault`: `AlreadyExists` where another has the machine, or the claim another machine. */
  claim(wanted: WantedMachine, signal?: AbortSignal): Promise<ServedMachine>;
  /** Has the machine wiped; nothing where the netboot knows no such claim. */
  release(claim: string, signal?: AbortSignal): Promise<void>;
}

const RENEW = "have a certificate issued by slipway plunder client --issue, and put its file into Secret plunder";
const ROOT = "/v1/plunder";

/** A netboot's API as the driver asks it: by mutual TLS, with every answer checked before it is believed. */
export function netbootApi(of: {
  endpoint: string;
  client: ClientCertificate | undefined;
  http: Http;
  clock: Clock;
}): NetbootApi {
  const { endpoint, client, http, clock } = of;
  const on = `netboot ${endpoint}`;
  const send = openApi(
    { endpoint, token: "", http, clock },
    {
      credentials: {},
      mediaType: "application/json",
      failure: ({ method }, { status, body }) => refusal(on, { method, status, body }),
    },
  );
  const expiresAt = client === undefined ? undefined : Date.parse(new X509Certificate(client.certificatePem).validTo);
  const ask = async <T>(call: Omit<ApiCall, "on">, schema: z.ZodType<T>): Promise<T> => {
    if (expiresAt !== undefined && clock.now() >= expiresAt)
      throw new Fault("BadCredentials", on, `the client certificate expired at ${new Date(expiresAt).toISOString()}`, {
        remedy: RENEW,
      });
    const answer = await send({ ...call, path: ROOT + call.path, on }).catch((error) => {
      throw translated(on, error);
    });
    const read = schema.safeParse(answer);
    if (read.success) return read.data;
    const [first] = read.error.issues;
    // What a write did is looked for.
    throw new Fault(
      call.method === "GET" ? "Unavailable" : "LostAnswer",
      on,
      `its answer is no machine: ${first?.path.join(".")}: ${first?.message}`,
    );
  };
  return {
    machines: async (claim, signal) =>
      (await ask({ method: "GET", path: MACHINES_PATH, query: { claim }, signal }, ServedMachines)).machines,
    waiting: async (withHardware, signal) => {
      const query = { hardware: withHardware || undefined };
      return (await ask({ method: "GET", path: WAITING_PATH, query, signal }, WaitingMachines)).machines;
    },
    async claim(wanted, signal) {
      const { machines } = await ask({ method: "POST", path: MACHINES_PATH, body: wanted, signal }, ServedMachines);
      const [machine] = machines;
      if (machine?.claim === wanted.claim && machine.mac === wanted.mac) return machine;
      throw new Fault("LostAnswer", on, "it was asked for one machine, and named another");
    },
    async release(claim, signal) {
      try {
        await ask({ method: "DELETE", path: `${MACHINES_PATH}/${claim}`, signal }, ServedMachines);
      } catch (error) {
        if (!isFault(error, "NotFound")) throw error;
      }
    },
  };
}

/** What an answer outside of 200 to 299 means. */
function refusal(on: string, { method, status, body }: { method: string; status: number; body: string }): Fault {
  const { code, message } = said(body);
  const text = message ?? `it answers ${status}`;
  if (status >= 300 && status < 400) return redirected(on, text);
  if (code === undefined && (status === 401 || status === 403))
    return new Fault(
      "BadCredentials",
      on,
      "it does not serve this client certificate: it was revoked, or is another netboot's",
      {
        remedy: RENEW,
      },
    );
  // Of a claim that it does not know it says so with status 200.
  if (status === 404 && (code === undefined || method === "GET"))
    return new Fault("Unsupported", on, "it gives no machines to operators", {
      remedy: "serve it by slipway netboot --plunder-api, of this version or a newer one",
    });
  switch (code) {
    case "NotFound":
    case "AlreadyExists":
    case "Conflict":
    case "MissingInput":
    case "Invalid":
    case "Forbidden":
    case "Throttled":
      return new Fault(code, on, text);
    default:
      return new Fault(status === 429 ? "Throttled" : status >= 500 ? "Unavailable" : "Invalid", on, text);
  }
}

const MOST_MESSAGE = 1024;

function said(body: string): { code?: string; message?: string } {
  try {
    const { code, message } = JSON.parse(body) as { code?: unknown; message?: unknown };
    return {
      ...(typeof code === "string" && { code }),
      ...(typeof message === "string" && { message: message.slice(0, MOST_MESSAGE).replace(/\p{C}/gu, " ") }),
    };
  } catch {
    return {};
  }
}

/** The TLS layer's refusals by what they mean; all else as it is. */
function translated(on: string, error: unknown): unknown {
  const code = tlsCode(error);
  if (code === undefined) return error;
  if (/^ERR_SSL_.*ALERT/.test(code))
    return new Fault("BadCredentials", on, `it refuses the client certificate (${code})`, {
      remedy: RENEW,
      cause: error,
    });
  if (!/CERT|SIGNATURE|ISSUER/.test(code)) return error;
  return new Fault("UntrustedCertificate", on, `its certificate is not of the authority in Secret plunder (${code})`, {
    remedy: RENEW,
    cause: error,
  });
}

function tlsCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if ("code" in at && !isFault(at)) return String(at.code);
  return undefined;
}
