import { type Clock, Fault, isFault, type Timer } from "@slipway/base";
import { type Client, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import {
  type Domain,
  type DomainStatus,
  NODE_LABEL,
  nodeLabelValue,
  VinoNode,
  type VinoNodeStatus,
} from "../../kinds/vino/vino-node.ts";

export interface Login {
  username: string;
  password: string;
}

/** Runs the domains of a node. */
export interface DomainHost {
  /** Makes it, or changes it; its controller takes these credentials and no others. */
  put(domain: Domain, login: Login): void;
  remove(name: string): void;
}

export interface NodeAgentOptions {
  client: Client;
  clock: Clock;
  /** Name of the node, and its address. */
  node: string;
  address: string;
  domains: DomainHost;
  /** Cores of the node. */
  cores?: number;
  lookMs?: number;
}

const PORT = 8443;
export const SIM_CA = "-----BEGIN CERTIFICATE-----\nSIMULATED\n-----END CERTIFICATE-----\n";

/** SIMULATION of the agent on one node: reads its VinoNodes, gives machines to whoever simulates them, and writes the status as the real one does. */
export class SimNodeAgent {
  readonly #options: NodeAgentOptions;
  /** By name of the domain: its cores, kept when the agent starts anew. */
  readonly cores = new Map<string, number[]>();
  /** By name of the domain, with the VinoNode's uid. */
  readonly domains = new Map<string, { owner: string; domain: Domain }>();
  /** Bridges' addresses and DHCP blocks, by uid of the VinoNode. */
  readonly networks = new Map<string, string[]>();
  /** Names of domains that can't be made. */
  readonly failing = new Set<string>();
  #timer: Timer | undefined;
  #isOpen = true;

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    this.#later(0);
  }

  close(): void {
    this.#isOpen = false;
    this.#timer?.cancel();
  }

  #later(ms: number): void {
    if (this.#isOpen) this.#timer = this.#options.clock.after(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { client, node, lookMs = 1_000 } = this.#options;
    try {
      const { items } = await client.list(VinoNode, { labelSelector: `${NODE_LABEL}=${nodeLabelValue(node)}` });
      for (const item of items) if (this.#isOpen) await this.#follow(item);
    } catch {
      // The API is away, or was quicker: it is looked again.
    }
    this.#later(lookMs);
  }

  async #follow(vinoNode: VinoNode): Promise<void> {
    const { uid, namespace = "", generation, deletionTimestamp } = vinoNode.metadata;
    const { domains, networks } = vinoNode.spec;
    for (const [name, { owner }] of this.domains)
      if (owner === uid && !domains.some((each) => each.name === name)) {
        this.#options.domains.remove(name);
        this.domains.delete(name);
        this.cores.delete(name);
      }
    this.networks.set(
      uid,
      networks.flatMap(({ addresses }) => addresses),
    );
    const states: DomainStatus[] = [];
    for (const domain of domains) states.push(await this.#make(domain, uid, namespace));
    const isRemoved = deletionTimestamp !== undefined && domains.length === 0 && networks.length === 0;
    const { operator: _, ...before } = vinoNode.status ?? {};
    const status: VinoNodeStatus = {
      observedGeneration: generation ?? 1,
      redfish: { url: `https://${urlHost(this.#options.address)}:${PORT}`, ca: SIM_CA },
      networks: networks.map(({ name }) => ({ name, ready: true })),
      domains: states,
      ...(isRemoved && { removed: true }),
    };
    if (JSON.stringify(status) === JSON.stringify(before)) return;
    const { client } = this.#options;
    await client.patch(VinoNode, refOf(vinoNode), { type: "merge", body: { status } }, { subresource: "status" });
  }

  async #make(domain: Domain, owner: string, namespace: string): Promise<DomainStatus> {
    const { name } = domain;
    if (this.failing.has(name)) return { name, state: "Failed", message: "no room is left in the storage pool" };
    try {
      // First: a domain that can't be made holds no cores.
      const login = await this.#login(namespace, domain.bmc.name);
      const cores = this.#pin(domain);
      this.#options.domains.put(domain, login);
      this.domains.set(name, { owner, domain });
      return {
        ...{ name, state: "Ready", system: `/redfish/v1/Systems/${name}` },
        ...(domain.bootMAC !== undefined && { bootMAC: domain.bootMAC }),
        ...(cores !== undefined && { cores, numaNode: 0 }),
      };
    } catch (error) {
      if (!isFault(error)) throw error;
      return { name, state: "Pending", message: error.message };
    }
  }

  #pin({ name, vcpus, pinned }: Domain): number[] | undefined {
    if (!pinned) {
      this.cores.delete(name);
      return undefined;
    }
    const held = this.cores.get(name);
    if (held?.length === vcpus) return held;
    const taken = new Set([...this.cores].flatMap(([other, cores]) => (other === name ? [] : cores)));
    const free = Array.from({ length: this.#options.cores ?? 64 }, (_, core) => core).filter(
      (core) => !taken.has(core),
    );
    if (free.length < vcpus) throw new Fault("NoCapacity", name, `${vcpus} cores are not free`);
    const given = free.slice(0, vcpus);
    this.cores.set(name, given);
    return given;
  }

  async #login(namespace: string, name: string): Promise<Login> {
    const { data = {} } = await this.#options.client.get(Secret, { namespace, name });
    const [username, password] = ["username", "password"].map((key) =>
      Buffer.from(data[key] ?? "", "base64").toString(),
    );
    if (!username || !password) throw new Fault("MissingInput", `Secret ${name}`, "it has no username and password");
    return { username, password };
  }
}

const urlHost = (address: string): string => (address.includes(":") ? `[${address}]` : address);
