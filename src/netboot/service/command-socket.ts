import { dirname } from "node:path";
import { type HttpHandler, json, type Log, privateFolder } from "@slipway/base";
import { type HttpServerOptions, serveHttp } from "@slipway/base/http-server";
import type { localApi } from "../local-api.ts";

type Api = ReturnType<typeof localApi>;

/** The socket on which the command asks. It says that it does not serve yet, or no longer, while it has no API. */
export interface CommandSocket {
  /** Has it answered by this API until the returned part is closed. */
  answerBy(api: Api): { close(): void };
  close(): Promise<void>;
}

const NOT_NOW = { code: "Unavailable", message: "netboot: it does not serve yet, or no longer" };

/**
 * Listens at the path, in a folder that is its owner's alone (`privateFolder`) and is made if need be. Rejects with a `Fault`:
 * `AlreadyExists` when another process listens there, `Refused` for a folder of another user.
 */
export async function openCommandSocket(path: string, log: Log): Promise<CommandSocket> {
  privateFolder(dirname(path));
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
