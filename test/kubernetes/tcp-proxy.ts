import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Clock, systemClock } from "@slipway/base";

/** A wire between a client and a server, to be made slow, or dead without either side being shown. */
export interface TcpProxy {
  port: number;
  /** Every piece of data is delivered so much later. */
  delayMs: number;
  /** From now on nothing passes on the connections there are; they stay open. New ones get nowhere either, until `heal`. */
  blackHole(): void;
  /** New connections work again. The old ones stay dead. */
  heal(): void;
  /** Every connection is closed; new ones work. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a proxy on loopback to a port of loopback. `at`: its own port. */
export async function tcpProxy(port: number, clock: Clock = systemClock, at = 0): Promise<TcpProxy> {
  const wires = new Set<Wire>();
  const state = { dead: false, delayMs: 0 };
  const server = createServer({ allowHalfOpen: false }, (near) => {
    const wire = new Wire(near, connect(port, "127.0.0.1"), clock, () => state.delayMs);
    wire.dead = state.dead;
    wires.add(wire);
    near.once("close", () => wires.delete(wire));
  });
  server.listen(at, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get delayMs() {
      return state.delayMs;
    },
    set delayMs(ms) {
      state.delayMs = ms;
    },
    cut() {
      for (const wire of wires) wire.end();
    },
    blackHole() {
      state.dead = true;
      for (const wire of wires) wire.dead = true;
    },
    heal() {
      state.dead = false;
    },
    async close() {
      for (const wire of wires) wire.end();
      server.close();
      await once(server, "close");
    },
  };
}

class Wire {
  dead = false;
  readonly #near: Socket;
  readonly #far: Socket;

  constructor(near: Socket, far: Socket, clock: Clock, delayMs: () => number) {
    this.#near = near;
    this.#far = far;
    const carry = (from: Socket, to: Socket): void => {
      let before = Promise.resolve();
      const later = (work: () => void): void => {
        before = before
          .then(() => clock.sleep(delayMs()))
          .then(() => {
            if (!this.dead) work();
          });
      };
      from.on("data", (chunk) => later(() => void (to.destroyed || to.write(chunk))));
      from.on("close", () => later(() => to.destroy()));
      from.on("error", () => {});
    };
    carry(near, far);
    carry(far, near);
  }

  end(): void {
    this.#near.destroy();
    this.#far.destroy();
  }
}
