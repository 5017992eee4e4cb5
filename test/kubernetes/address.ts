import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** An address on loopback that leads to one port after the other, whatever is said there. */
export interface Address {
  url: string;
  /** The port; connections from now on go there. */
  leadsTo: number;
  /** Closes the connections that pass it. */
  cut(): void;
  close(): Promise<void>;
}

/** Opens an address that leads nowhere yet. Whoever calls closes it. */
export async function openAddress(): Promise<Address> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = kept(connect(opened.leadsTo, "127.0.0.1"));
    kept(near).pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const opened: Address = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadsTo: 0,
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
  return opened;
}
