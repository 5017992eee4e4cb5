import { connect, createServer, type ListenOptions, type NetConnectOpts, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";

/** A way into the lab's network, or out of it: connections to one place are carried to another. */
export interface Door {
  /** Where it listens, when that is a port. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Opens a door. `listen` and `to` are a port of an address, or a Unix socket, which reaches through network namespaces. */
export async function openDoor(listen: ListenOptions, to: NetConnectOpts): Promise<Door> {
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    return socket;
  };
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = keep(connect({ ...to, allowHalfOpen: true }));
    keep(outer);
    // An end that breaks off closes the other too; the caller sees a closed connection.
    const ended = Promise.all([pipeline(outer, inner), pipeline(inner, outer)]);
    ended.catch(() => [outer, inner].map((socket) => socket.destroy()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
