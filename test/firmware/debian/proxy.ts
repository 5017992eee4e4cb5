/** An HTTP proxy that reaches Debian's mirror and nothing else, and has some files of its own in that mirror's place. */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/** The mirror: its address as clients name it, and the path below which its archive is. */
export interface Mirrored {
  host: string;
  port?: number;
  root: string;
}

export interface MirrorProxy {
  close(): Promise<void>;
}

/** Listens at a Unix socket. `own`: files by path below the archive's root. */
export async function openProxy(
  socket: string,
  mirror: Mirrored,
  own: ReadonlyMap<string, Buffer>,
): Promise<MirrorProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((from, to) => {
    const url = from.url?.startsWith("http://") ? new URL(from.url) : undefined;
    if (url?.host !== hostOf(mirror) || (from.method !== "GET" && from.method !== "HEAD"))
      return void to.writeHead(403).end();
    const path = url.pathname.startsWith(`${mirror.root}/`) ? url.pathname.slice(mirror.root.length + 1) : "";
    const content = own.get(path);
    if (content === undefined) return passOn(from, to, { agent, mirror, path: url.pathname + url.search });
    to.writeHead(200, { "content-length": content.length, "content-type": "application/octet-stream" });
    to.end(from.method === "GET" ? content : undefined);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, () => resolve());
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

const hostOf = ({ host, port = 80 }: Mirrored): string => (port === 80 ? host : `${host}:${port}`);

function passOn(
  from: IncomingMessage,
  to: ServerResponse,
  { agent, mirror, path }: { agent: Agent; mirror: Mirrored; path: string },
): void {
  const { "proxy-connection": _, ...headers } = from.headers;
  const asked = request({ ...mirror, agent, path, method: from.method!, headers }, (answer) => {
    to.writeHead(answer.statusCode!, answer.headers);
    // A broken transfer ends both ways; the installer asks again.
    pipeline(answer, to).catch(() => to.destroy());
  });
  asked.once("error", () => (to.headersSent ? to.destroy() : to.writeHead(502).end()));
  to.once("close", () => asked.destroy());
  asked.end();
}
