/**
 * plunder's API on loopback, for programs that know the server's certificate alone: what they ask is passed on with a client certificate. Only the user
 * that started it is served. Its certificate is of this run, and so is the file that names it.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, request as ask, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, Fault, type Log } from "@slipway/base";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import type { ClientFile } from "./client-file.ts";
import { ownerOf } from "./peer-owner.ts";

export interface ProxyOptions {
  /** With credentials. */
  upstream: ClientFile;
  /** 0: any free one. */
  port: number;
  clock: Clock;
  log: Log;
  /** The user that is served; undefined where there are no users to tell apart. */
  uid: number | undefined;
}

export interface Proxy {
  /** What plunder's clients are given. */
  file: ClientFile;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const VALID_DAYS = 30;
const ANSWER_MS = 5 * 60_000;
const MOST_CONNECTIONS = 64;

/** Rejects with a `Fault` for a file without credentials, and with the system's error for a port that can't be had. */
export async function startProxy({ upstream, port, clock, log, uid }: ProxyOptions): Promise<Proxy> {
  const { credentials, address, port: upstreamPort } = upstream;
  if (credentials === undefined)
    throw new Fault("MissingInput", "plunderclient.yaml", "it has no client certificate", {
      remedy: "have one issued by slipway plunder client on the machine of the netboot",
    });
  // Its key is thrown away: it signs nothing else.
  const authority = await createAuthority({ commonName: "slipway-plunder-client", clock, validDays: VALID_DAYS });
  const { certificatePem, keyPem } = await issueServer(authority, {
    commonName: "slipway-plunder-client",
    hosts: [HOST, "localhost"],
    clock,
    validDays: VALID_DAYS,
  });
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: credentials.authorityPem,
    cert: credentials.certificatePem,
    key: credentials.keyPem,
  });
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const { host: _, connection: __, ...headers } = request.headers;
    const passed = ask(
      {
        agent,
        host: address.replace(/^\[|\]$/g, ""),
        port: upstreamPort,
        method: request.method,
        path: request.url,
        headers,
        timeout: ANSWER_MS,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.once("error", () => response.destroy());
      },
    );
    passed.once("timeout", () => passed.destroy(new Error("no answer")));
    passed.once("error", (error) => {
      log.warn({ error: error.message }, "netboot does not answer");
      if (response.headersSent) return void response.destroy();
      const message = `netboot at ${address}:${upstreamPort} does not answer: ${error.message}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ warning: message, friendlyError: message, error: message }));
    });
    response.once("close", () => passed.destroy());
    request.pipe(passed);
  };
  const server = createServer(
    { key: keyPem, cert: certificatePem, requestTimeout: 30_000, headersTimeout: 30_000, handshakeTimeout: 10_000 },
    (request, response) => {
      isOwners(request, uid).then(
        (isOwn) => {
          if (isOwn) return forward(request, response);
          log.warn({}, "another user of this machine is not served");
          response.writeHead(403, { connection: "close" }).end("forbidden\n");
        },
        () => response.destroy(),
      );
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, HOST);
  await once(server, "listening");
  return {
    file: { address: HOST, port: (server.address() as AddressInfo).port, certificatePem },
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

/** Root may read the file and the certificate anyhow. */
async function isOwners({ socket }: IncomingMessage, uid: number | undefined): Promise<boolean> {
  if (uid === undefined) return true;
  const owner = await ownerOf(socket);
  return owner === uid || owner === 0;
}
