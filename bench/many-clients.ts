import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** What many clients got that began together. */
export interface Shares {
  /** From the first request until all had everything. */
  seconds: number;
  /** What the slowest had when the first had everything, as a part of that. */
  leastShare: number;
}

/** Fetches so many bytes of a file as often at once, all connected before the first request, and forgets them. */
export async function fetchAtOnce(
  url: string,
  { clients, bytes }: { clients: number; bytes: number },
): Promise<Shares> {
  const { protocol, hostname, port, pathname } = new URL(url);
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nRange: bytes=0-${bytes - 1}\r\n\r\n`;
  const got = new Array<number>(clients).fill(0);
  const done = Promise.withResolvers<number[]>();
  const all = Promise.withResolvers<void>();
  let left = clients;
  const came = (client: number, length: number): void => {
    const before = got[client]!;
    got[client] = before + length;
    if (before >= bytes || got[client]! < bytes) return;
    done.resolve([...got]);
    if (--left === 0) all.resolve();
  };
  const sockets = await Promise.all(
    got.map((_, client) => {
      const to = { host: hostname, port: Number(port) };
      const took = (length: number): void => came(client, length);
      const gone = (): void => all.reject(new Error(`${url}: the connection ended after ${got[client]} bytes`));
      return (protocol === "https:" ? takeOverTls(to, took) : takePlain(to, took)).then((socket) =>
        socket.once("close", gone),
      );
    }),
  );
  const began = performance.now();
  for (const socket of sockets) socket.write(request);
  await all.promise;
  const seconds = (performance.now() - began) / 1000;
  for (const socket of sockets) socket.destroy();
  const first = await done.promise;
  return { seconds, leastShare: Math.min(...first) / bytes };
}

type Place = { host: string; port: number };

const scratch = Buffer.allocUnsafe(256 * 1024);

function takePlain(to: Place, took: (bytes: number) => void): Promise<Socket> {
  const callback = (length: number): boolean => {
    took(length);
    return true;
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ ...to, onread: { buffer: scratch, callback } }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function takeOverTls(to: Place, took: (bytes: number) => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ ...to, rejectUnauthorized: false }, () => resolve(socket));
    socket.on("data", (data: Buffer) => took(data.length));
    socket.once("error", reject);
  });
}
