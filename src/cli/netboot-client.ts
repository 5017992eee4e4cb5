import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Fault } from "../base/fault.ts";
import type { HttpRequest } from "../base/http.ts";
import { undiciHttp } from "../base/http-client.ts";
import type { ShownHost } from "../netboot/local-api.ts";
import type { LogLine } from "../netboot/logs/host-logs.ts";

/** Where a netboot that was started here listens for the command: by itself, as a part of `up`, or of `lab`. */
export const SOCKET = "netboot.sock";
export const FOLDERS: readonly string[] = [".slipway/netboot", ".slipway/lab/netboot"];

export interface NetbootClient {
  hosts(): Promise<ShownHost[]>;
  ask<T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T>;
  /** The host's lines; with `follow` until the signal is aborted. */
  logs(host: string, options: { follow: boolean; signal: AbortSignal }): AsyncIterable<LogLine>;
  close(): Promise<void>;
}

/** The way to the netboot whose folder is one of these, the first that answers. Rejects with a `Fault` when none does. */
export async function netbootClient(folders: readonly string[]): Promise<NetbootClient> {
  for (const folder of folders) {
    const client = clientOf(join(folder, SOCKET));
    try {
      await client.hosts();
      return client;
    } catch (error) {
      await client.close();
      if (!(error instanceof Fault) || error.code !== "Unavailable") throw error;
    }
  }
  throw new Fault("Unavailable", folders.join(", "), "no netboot answers", {
    remedy: "start `slipway netboot`, `slipway up --netboot` or `slipway lab`, or name its folder with --dir",
  });
}

function clientOf(socket: string): NetbootClient {
  const http = undiciHttp({ socket });
  const ask = async <T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T> => {
    const answer = await http({
      method,
      url: `http://localhost/v1${path}`,
      ...(body !== undefined && { body: JSON.stringify(body) }),
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
      const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
      request({ socketPath: socket, path, signal }, resolve).once("error", reject).end();
      const answer = await promise;
      answer.on("error", () => {});
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as LogLine;
    },
    close: () => http.close(),
  };
}

function faultOf(body: string, path: string): Fault {
  try {
    const { code, message } = JSON.parse(body) as { code: "NotFound"; message: string };
    return new Fault(code, path.split("/")[2] ?? path, message);
  } catch {
    return new Fault("Internal", path, body.trim());
  }
}
