import { join } from "node:path";
import { type Clock, Fault, type Log, quietLog, type Random } from "@slipway/base";
import type { BmcCredentials } from "../../inventory/bmc/bmc.ts";
import type { OpenBmc } from "../../inventory/hosts/bmc-views.ts";
import type { TrustSetting } from "../../netboot/hosts/trust.ts";
import type { Netboot } from "../../netboot/service/service.ts";
import type { Firmware } from "../hardware.ts";
import { Provisioning, ProvisioningNetwork } from "./provisioning.ts";
import { type ServerOptions, SimServer } from "./server.ts";
import { type BmcFaults, serverBmc } from "./server-bmc.ts";
import type { ServerTimings } from "./server-parts.ts";

export interface RackOptions {
  clock: Clock;
  random: Random;
  /** Runs what users' scripts start. */
  firmware: Firmware;
  /** Outlives the netboot that serves the rack. Unset: nothing does, and images are not converted. */
  folder?: string;
  timings?: ServerTimings;
  trust?: TrustSetting;
  log?: Log;
}

const SCHEME = "redfish://";

/** A rack of simulated servers with BMCs, and the netboot that serves them, as the system `netboot` is given both. SIMULATION. */
export class SimRack {
  readonly servers = new Map<string, SimServer>();
  /** Of all BMCs. */
  login: BmcCredentials = { username: "admin", password: "right" };
  /** What goes wrong at the BMCs. */
  bmcFaults: (server: SimServer) => BmcFaults | undefined = () => undefined;
  /** The provisioning network: of the servers, and of what else is plugged into it. */
  readonly network = new ProvisioningNetwork();
  readonly #options: RackOptions;

  constructor(options: RackOptions) {
    this.#options = options;
  }

  /** Puts a server into the rack, off, on the provisioning network, with its BMC at `redfish://NAME`. */
  add(name: string, more: Pick<ServerOptions, "macs" | "disks"> = {}): SimServer {
    const number = this.servers.size + 1;
    const [high, low] = [number >> 8, number & 255];
    const mac = `52:54:00:00:${hex(high)}:${hex(low)}`;
    const address = `10.20.${high}.${low}`;
    const { clock, random, firmware, timings } = this.#options;
    const network = this.network;
    const own = { name, mac, address, clock, random, network, firmware, ...(timings && { timings }) };
    const server = new SimServer({ ...own, ...more });
    network.plug(mac, address);
    this.servers.set(name, server);
    return server;
  }

  /** Netboot for the rack, in the place of the one before. `isAlive`: whether its process is. */
  serve(isAlive: () => boolean = () => true): Netboot {
    const { clock, random, folder, trust, log = quietLog } = this.#options;
    const provisioning = new Provisioning(
      {
        ...{ clock, random, log, ...(trust && { trust }) },
        ...(folder !== undefined && { hostsFile: join(folder, "hosts.db"), imagesFolder: join(folder, "images") }),
      },
      this.network,
    );
    const network = this.network;
    void network.serving?.close();
    network.serving = provisioning;
    network.isAlive = isAlive;
    return {
      ...provisioning.asNetboot(),
      async close() {
        if (network.serving === provisioning) network.serving = undefined;
        await provisioning.close();
      },
    };
  }

  /** The way to the BMCs. */
  readonly openBmc: OpenBmc = ({ address, credentials: given }) => {
    const server = this.servers.get(address.slice(SCHEME.length));
    if (server === undefined) throw new Fault("Unavailable", `bmc ${address}`, "nobody answers");
    const befall = this.bmcFaults(server);
    return serverBmc(server, { expected: this.login, given, ...(befall && { befall }) });
  };

  /** The address of a server's BMC. */
  bmcOf(name: string): string {
    return `${SCHEME}${name}`;
  }

  /** Switches everything off. */
  async close(): Promise<void> {
    for (const server of this.servers.values()) server.off();
    await this.network.serving?.close();
    this.network.serving = undefined;
  }
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
