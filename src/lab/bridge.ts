import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Fault } from "@slipway/base";

const run = promisify(execFile);

const ADDRESS = "02:00:00:77:00:01";

/** A switch of the network namespace we are in, with our own address on it. It goes with the namespace at the latest. */
export class Bridge {
  readonly name: string;
  readonly #taps = new Set<string>();

  private constructor(name: string) {
    this.name = name;
  }

  /** `address` with its prefix length: `10.77.0.1/24`. Rejects with a `Fault` where we may not have interfaces. */
  static async create(name: string, address: string): Promise<Bridge> {
    // Without an address of its own it has that of a port, and another one when ports come: machines would look for us in vain.
    await ip("link", "add", name, "address", ADDRESS, "type", "bridge", "stp_state", "0", "forward_delay", "0");
    await ip("address", "add", address, "dev", name);
    // A port that is always alive: with machines that are off alone, nobody could serve on it yet.
    const [port, far] = [`${name}-a`, `${name}-b`];
    await ip("link", "add", port, "master", name, "type", "veth", "peer", "name", far);
    // Its far end is silent: it would answer ARP for the bridge's address, and sockets of the bridge don't receive what comes in there.
    await ip("link", "set", far, "arp", "off", "addrgenmode", "none");
    for (const each of [name, port, far]) await ip("link", "set", each, "up");
    return new Bridge(name);
  }

  /** A port for a machine's card; returns the interface's name. */
  async plug(machine: string): Promise<string> {
    const tap = `tap-${machine}`;
    if (!/^[a-z0-9-]{1,15}$/.test(tap))
      throw new Fault("Invalid", `machine ${machine}`, "a name is at most 11 of a-z, 0-9, -");
    if (this.#taps.has(tap)) return tap;
    await ip("tuntap", "add", tap, "mode", "tap");
    await ip("link", "set", tap, "master", this.name, "up");
    this.#taps.add(tap);
    return tap;
  }

  /** Takes it and its ports away. */
  async remove(): Promise<void> {
    for (const tap of this.#taps) await ip("link", "delete", tap);
    await ip("link", "delete", `${this.name}-a`);
    await ip("link", "delete", this.name);
  }
}

async function ip(...args: string[]): Promise<void> {
  await run("ip", args, { env: { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" } }).catch(
    (error: { stderr?: string; message: string }) => {
      throw new Fault("Unavailable", "lab network", `ip ${args.join(" ")}: ${(error.stderr || error.message).trim()}`, {
        remedy: "the kernel needs bridges, taps and a readable /dev/net/tun",
        cause: error,
      });
    },
  );
}
