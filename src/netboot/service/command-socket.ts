import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type HttpHandler, json } from "../../base/http.ts";
import { type HttpServerOptions, serveHttp } from "../../base/http-server.ts";
import type { Log } from "../../base/log.ts";
import type { localApi } from "../local-api.ts";

type Api = ReturnType<typeof localApi>;

/** The socket on which the command asks. It says that it does not serve yet, or no more, while it has no API. */
export interface CommandSocket {
  /** Has it answered by this API until the returned part is closed. */
  answerBy(api: Api): { close(): void };
  close(): Promise<void>;
}

const NOT_NOW = { code: "Unavailable", message: "netboot: it does not serve yet, or no more" };

/** Listens at the path, whose folder is made if need be, for its owner alone. Rejects with a `Fault` (`AlreadyExists`) when another process does. */
export async function openCommandSocket(path: string, log: Log): Promise<CommandSocket> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  let api: Api | undefined;
  const handler: HttpHandler = async (request) => api?.handler(request) ?? json(503, NOT_NOW);
  const stream: HttpServerOptions["stream"] = (...asked) => api?.stream(...asked) ?? false;
  const server = await serveHttp(handler, { socket: path, stream, log });
  return {
    answerBy(given) {
      api = given;
      return {
        close() {
          api = undefined;
        },
      };
    },
    close: server.close,
  };
}
