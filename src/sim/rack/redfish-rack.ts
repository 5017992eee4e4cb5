import type { Clock, Random } from "@slipway/base";
import type { BmcCredentials } from "../../inventory/bmc/bmc.ts";
import { Bmcs } from "../../inventory/bmc/bmcs.ts";
import type { BmcHttp } from "../../inventory/bmc/target.ts";
import { createSimBmc, type SimBmc } from "../bmc/sim-bmc.ts";
import { SimMachine } from "../bmc/sim-machine.ts";
import { simNetwork } from "../network.ts";
import type { SimServer } from "./server.ts";

/** Simulated servers whose BMCs speak Redfish, each at `redfish://NAME`. SIMULATION. */
export class RedfishRack {
  /** As the operator has it. */
  readonly bmcs: Bmcs;
  /** By the server's name. */
  readonly sims = new Map<string, SimBmc>();
  /** By the server's name: what its BMC switches. */
  readonly machines = new Map<string, SimMachine>();
  readonly #network = simNetwork();
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    const http = (): BmcHttp => Object.assign(this.#network.http, { close: async () => {} });
    this.bmcs = new Bmcs({ clock, http });
  }

  /** Gives a server its BMC, which switches it on and off from now on. */
  add(server: SimServer, credentials: BmcCredentials): void {
    const { name, macs } = server;
    const uuid = `51b00000-0000-4000-8000-${server.mac.replaceAll(":", "")}`;
    const machine = new SimMachine({
      ...{ clock: this.#clock, id: uuid, name, uuid, macs },
      onStart({ from, media, httpBootUri }) {
        server.media = media;
        server.bootUri = from === "UefiHttp" ? httpBootUri : undefined;
        // What is to be started was chosen by the BMC; else the firmware has its own order.
        if (from !== "None") server.bootOnce = from === "Hdd" ? "disk" : from === "Cd" ? "media" : "network";
        server.on();
      },
      onOff: () => server.off(),
    });
    const sim = createSimBmc({ clock: this.#clock, random: this.#random, machines: [machine], credentials });
    this.sims.set(name, sim);
    this.machines.set(name, machine);
    this.#network.serve(`https://${name}`, sim.handle);
  }
}
