import { createSocket, type Socket } from "node:dgram";
import { Fault } from "@slipway/base";

/** UDP sockets that the parent process has bound. */
export interface InheritedSockets {
  /**
   * The one at a port: of several, the one named after the interface. It stays open when its user goes, since it can't be opened a
   * second time; use `on("message")` and `off`.
   */
  find(port: number, device: string): Socket | undefined;
  /** Ports and names, for messages. */
  readonly list: readonly { port: number; name: string }[];
  close(): void;
}

const FIRST_DESCRIPTOR = 3;

/** Nobody passes more. */
const MOST = 256;

/**
 * The UDP sockets of systemd's socket activation (LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES: sd_listen_fds(3)), where `BindToDevice=`
 * holds each to an interface. Descriptors of other kinds are left alone. The variables are taken out of `env`, so that no child
 * process believes they are for it. Call once. Rejects with a `Fault` when one is of IPv6.
 */
export async function inheritedSockets(env: NodeJS.ProcessEnv, pid: number): Promise<InheritedSockets> {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = "" } = env;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  const count =
    LISTEN_PID === String(pid) && /^\d{1,3}$/.test(LISTEN_FDS ?? "") ? Math.min(MOST, Number(LISTEN_FDS)) : 0;
  const names = LISTEN_FDNAMES.split(":");
  const all: { port: number; name: string; socket: Socket }[] = [];
  for (let i = 0; i < count; i++) {
    const socket = await adopted(FIRST_DESCRIPTOR + i);
    if (socket === undefined) continue;
    const { port, family } = socket.address();
    all.push({ port, name: names[i] ?? "", socket });
    // An address of IPv4 is another text there, and no broadcast can be sent to it.
    if (family === "IPv4") continue;
    for (const each of all) each.socket.close();
    const remedy = `write ListenDatagram=0.0.0.0:${port} in the socket unit`;
    throw new Fault("Invalid", `the inherited socket at port ${port}`, "it is of IPv6", { remedy });
  }
  return {
    find(port, device) {
      const fitting = all.filter((each) => each.port === port);
      return (fitting.find(({ name }) => name === device) ?? (fitting.length === 1 ? fitting[0] : undefined))?.socket;
    },
    list: all.map(({ port, name }) => ({ port, name })),
    close() {
      for (const { socket } of all) socket.close();
    },
  };
}

/** A socket over the descriptor; undefined when it is not one of UDP. */
async function adopted(fd: number): Promise<Socket | undefined> {
  const socket = createSocket("udp4");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("error", reject);
  try {
    socket.bind({ fd }, resolve);
    await promise;
  } catch {
    socket.close();
    return undefined;
  }
  // An error of a socket in use is that of one packet.
  socket.on("error", () => {});
  return socket;
}
