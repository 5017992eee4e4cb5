import { type Clock, Fault, type Random } from "@slipway/base";
import type { OpenBmc } from "../../inventory/hosts/bmc-views.ts";
import type { Domain } from "../../kinds/vino/vino-node.ts";
import { SimServer } from "../rack/server.ts";
import { serverBmc } from "../rack/server-bmc.ts";
import type { BootNetwork, ServerTimings } from "../rack/server-parts.ts";
import type { DomainHost, Login } from "./node-agent.ts";

export interface SimDomainsOptions {
  clock: Clock;
  random: Random;
  network: BootNetwork & { plug(mac: string, address: string): void };
  timings?: ServerTimings;
}

const SYSTEM = /^redfish(?:-virtualmedia)?\+https:\/\/[^/]+\/redfish\/v1\/Systems\/([^/]+)$/;

/** SIMULATION of the virtual machines of nodes: simulated servers on the provisioning network, each ordered by its own path and password. */
export class SimDomains implements DomainHost {
  readonly servers = new Map<string, SimServer>();
  readonly #logins = new Map<string, Login>();
  readonly #options: SimDomainsOptions;
  #next = 1;

  constructor(options: SimDomainsOptions) {
    this.#options = options;
  }

  put({ name, bootMAC, interfaces, disks }: Domain, login: Login): void {
    this.#logins.set(name, login);
    if (this.servers.has(name)) return;
    const [mac, ...macs] = [...new Set([bootMAC, ...interfaces.map((each) => each.mac)])].filter(
      (each) => each !== undefined,
    );
    if (mac === undefined) throw new Fault("Invalid", name, "a simulated machine needs an interface");
    const number = this.#next++;
    const address = `10.21.${number >> 8}.${number & 255}`;
    this.#options.network.plug(mac, address);
    const own = disks.map(({ device, sizeGiB }) => ({ name: `/dev/${device}`, bytes: sizeGiB * 2 ** 30 }));
    this.servers.set(name, new SimServer({ ...this.#options, name, mac, macs, address, disks: own }));
  }

  remove(name: string): void {
    this.servers.get(name)?.off();
    this.servers.delete(name);
    this.#logins.delete(name);
  }

  /** Whether the address is one of a virtual machine's controller. */
  has(address: string): boolean {
    return SYSTEM.test(address);
  }

  /** The way to their controllers, as the engine of hosts has it. */
  readonly openBmc: OpenBmc = ({ address, credentials: given }) => {
    const name = SYSTEM.exec(address)?.[1] ?? "";
    const server = this.servers.get(name);
    const expected = this.#logins.get(name);
    if (server === undefined || expected === undefined)
      throw new Fault("Unavailable", `bmc ${address}`, "nobody answers");
    return serverBmc(server, { expected, given });
  };

  close(): void {
    for (const name of [...this.servers.keys()]) this.remove(name);
  }
}
