import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type Clock, type Code, Fault, type HttpRequest, isFault, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import type { ShownHost } from "../netboot/local-api.ts";
import type { LogLine } from "../netboot/logs/host-logs.ts";
import { SOCKET } from "../netboot/service/place.ts";

/** The folders of a netboot that was started here: by itself, as a part of `up`, or of `lab`. */
export const FOLDERS: readonly string[] = [".slipway/netboot", ".slipway/lab/netboot"];

/** An order to write an image is answered once the image has been fetched and converted. */
const ORDER_MS = 2 * 60 * 60_000;

export interface NetbootClient {
  hosts(): Promise<ShownHost[]>;
  ask<T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T>;
  /** The host's lines; with `follow` until the signal is aborted. */
  logs(host: string, options: { follow: boolean; signal: AbortSignal }): AsyncIterable<LogLine>;
  close(): Promise<void>;
}

/** The way to the netboot whose folder is one of these, the first that answers. Rejects with a `Fault` when none does. */
export async function netbootClient(folders: readonly string[], clock: Clock = systemClock): Promise<NetbootClient> {
  for (const folder of folders) {
    const client = clientOf(join(folder, SOCKET), clock);
    try {
      await client.hosts();
      return client;
    } catch (error) {
      await client.close();
      if (isRefused(error))
        throw new Fault("Forbidden", folder, "its netboot is another user's", {
          remedy: "ask as the user that started it, with sudo for instance",
          cause: error,
        });
      if (!isFault(error, "Unavailable")) throw error;
    }
  }
  throw new Fault("Unavailable", folders.join(", "), "no netboot answers", {
    remedy: "start `slipway netboot`, `slipway up --netboot` or `slipway lab`, or name its folder with --dir",
  });
}

/** Does something with the netboot in this folder, or in one of the usual ones. Rejects as `netbootClient` and the work do. */
export async function withNetboot<T>(dir: string | undefined, work: (client: NetbootClient) => Promise<T>): Promise<T> {
  const client = await netbootClient(dir === undefined ? FOLDERS : [dir]);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Its folder and its socket are for their owner alone. */
function isRefused(error: unknown): boolean {
  return isFault(error, "Unavailable") && (error.cause as NodeJS.ErrnoException).code === "EACCES";
}

function clientOf(socket: string, clock: Clock): NetbootClient {
  const http = undiciHttp({ socket, clock });
  const ask = async <T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T> => {
    const answer = await http({
      method,
      url: `http://localhost/v1${path}`,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(method === "POST" && { timeoutMs: ORDER_MS }),
    });
    if (answer.status < 300) return JSON.parse(answer.body) as T;
    throw faultOf(answer.body, path);
  };
  return {
    ask,
    hosts: async () => (await ask<{ hosts: ShownHost[] }>("GET", "/hosts")).hosts,
    async *logs(host, { follow, signal }) {
      await ask("GET", `/hosts/${host}`);
      const path = `/v1/hosts/${host}/logs${follow ? "?follow=1" : ""}`;
      const asked = request({ socketPath: socket, path, signal });
      asked.end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      if (answer.statusCode !== 200) throw faultOf(await text(answer), path);
      try {
        for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as LogLine;
      } catch (cause) {
        if (!signal.aborted) throw new Fault("LostAnswer", host, "the log was cut off before its end", { cause });
      } finally {
        answer.destroy();
      }
    },
    close: () => http.close(),
  };
}

function faultOf(body: string, path: string): Fault {
  const on = /\/hosts\/([^/]+)/.exec(path)?.[1] ?? "netboot";
  try {
    const { code, message } = JSON.parse(body) as { code: Code; message: string };
    return new Fault(code, on, message.startsWith(`${on}: `) ? message.slice(on.length + 2) : message);
  } catch {
    return new Fault("Internal", on, body.trim());
  }
}
