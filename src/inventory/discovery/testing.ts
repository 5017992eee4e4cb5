/** A rack of machines that discovery sees, on the embedded API in virtual time. For tests. */
import type { TestContext } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type ApiRequest, type Client, createClient, createManager, type Manager, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { failure } from "@slipway/kube/testing";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Host, HostChange } from "../../netboot/hosts/host.ts";
import type { Declaration, Standing, Trust } from "../../netboot/hosts/trust.ts";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import { discoveryController, type SeenHosts } from "./controller.ts";

export const NAMESPACE = "rack";
export const MINUTE = 60_000;

/** Stands for netboot: the hosts that a test lets it see. */
export class Seen implements SeenHosts {
  readonly hosts = new Map<string, Host>();
  readonly declared = new Map<string, Declaration>();
  trust: Trust = "discovered";
  readonly #listeners = new Set<(change: HostChange) => void>();
  standing = (): Standing => ({ trust: this.trust, because: "the test says so" });
  declare(name: string, declaration: Declaration): boolean {
    const before = JSON.stringify(this.declared.get(name) ?? { is: "none" });
    this.declared.set(name, declaration);
    return before !== JSON.stringify(declaration);
  }
  get = (nameOrMac: string): Host | undefined =>
    this.hosts.get(nameOrMac) ?? this.list().find(({ macs }) => macs.includes(nameOrMac));
  list = (): Host[] => [...this.hosts.values()];
  onChange(listener: (change: HostChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  hear(mac: string, at: number, more: Partial<Host> = {}): Host {
    const name = `host-${mac.replaceAll(":", "-")}`;
    const before = this.hosts.get(name) ?? { name, mac, macs: [mac], firstSeen: at, boot: "agent" as const };
    const host: Host = { ...before, lastSeen: at, ...more };
    this.hosts.set(name, host);
    this.notify({ is: "changed", host });
    return host;
  }
  notify(change: HostChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export interface Rack {
  clock: VirtualClock;
  client: Client;
  seen: Seen;
  manager: Manager;
  /** What the manager asked to be written. */
  writes: string[];
  /** While true, watches show the manager nothing. */
  lag(on: boolean): void;
  /** Requests of the manager that are refused. */
  refuse(which: (request: ApiRequest) => boolean): void;
  settle(ms?: number): Promise<void>;
  hosts(): Promise<BareMetalHost[]>;
}

/** A discovery controller on an embedded API, in virtual time. */
export async function rack(t: TestContext, most = 10): Promise<Rack> {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const kinds = [[BareMetalHost], [HardwareData]];
  const installed = installCrds(client, clock, new AbortController().signal, kinds);
  await clock.run(MINUTE);
  await installed;
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const inner = api.transport();
  const writes: string[] = [];
  let isRefused = (_: ApiRequest): boolean => false;
  let caughtUp = Promise.withResolvers<void>();
  caughtUp.resolve();
  const transport: Transport = {
    async request(request) {
      if (request.method !== "GET") writes.push(`${request.method} ${request.path}`);
      return isRefused(request) ? failure(403, "Forbidden", "the test says so") : await inner.request(request);
    },
    async watch(request) {
      const answer = await inner.watch(request);
      if (!(Symbol.asyncIterator in answer)) return answer;
      return (async function* () {
        for await (const event of answer) {
          await caughtUp.promise;
          yield event;
        }
      })();
    },
    close: () => inner.close(),
  };
  const manager = createManager({ transport, clock, random, log: quietLog, leaderElection: false });
  const seen = new Seen();
  manager.add(discoveryController({ hosts: seen, namespace: NAMESPACE, most, perSecond: 5 }));
  void manager.start();
  await clock.run(1_000);
  t.after(async () => {
    const stopped = manager.stop();
    await clock.run(MINUTE);
    await stopped;
    await api.close();
  });
  return {
    clock,
    client,
    seen,
    manager,
    writes,
    lag(on) {
      if (on) caughtUp = Promise.withResolvers();
      else caughtUp.resolve();
    },
    refuse(which) {
      isRefused = which;
    },
    settle: async (ms = MINUTE) => void (await clock.run(ms)),
    hosts: async () => (await client.list(BareMetalHost)).items,
  };
}

export const MAC = "52:54:00:12:34:56";

export const INVENTORY: Inventory = {
  bootMac: MAC,
  architecture: "x86_64",
  firmware: { kind: "uefi", secureBoot: true, vendor: "EDK II", version: "2022.11" },
  system: { manufacturer: "QEMU", product: "Standard PC", serial: "42" },
  cpu: { model: "EPYC", count: 4, clockMhz: 2400, flags: ["sse4_2"] },
  memoryBytes: 2 ** 31,
  disks: [
    { name: "/dev/nvme0n1", byId: ["nvme-X_1"], bytes: 10e9, rotational: false, readOnly: false, logicalBlock: 512 },
  ],
  cards: [{ name: "eth0", mac: MAC, link: true, speedMbps: 10_000, addresses: ["10.0.0.9/24"] }],
  bmc: { address: "10.1.0.9" },
  agent: { version: "0", kernel: "6.1", uptimeSeconds: 4 },
};
