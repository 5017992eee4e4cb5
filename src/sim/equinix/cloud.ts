import { type Clock, type Random, uuid } from "@slipway/base";
import type { Firmware } from "../hardware.ts";
import { AddressPlan } from "./addresses.ts";
import { Bgp } from "./bgp.ts";
import type { SimDevice, SimGateway, SimPort, SimSpotRequest, SimVlan } from "./device.ts";
import { Elastic } from "./elastic.ts";
import {
  DEFAULT_PROJECT,
  DEFAULT_SPOT_PRICE,
  DEFAULT_TOKEN,
  type EquinixSimOptions,
  REAL_TIMINGS,
  type SimProject,
  type Timings,
} from "./options.ts";

export interface Reservation {
  readonly id: string;
  readonly plan: string;
  readonly metro: string;
  device: SimDevice | undefined;
}

export interface SshKey {
  readonly id: string;
  label: string;
  key: string;
  readonly projectId: string | undefined;
}

/** One order that was accepted, kept after the device is gone. */
export interface Purchase {
  readonly id: string;
  readonly hostname: string;
  readonly tags: readonly string[];
  readonly plan: string;
  readonly metro: string;
  readonly at: number;
  /** When the device was gone; undefined: it still exists. */
  releasedAt: number | undefined;
}

const MAX_EVENTS = 50;

/** Everything the simulated cloud knows, with an index for each question but lists. */
export class Cloud {
  readonly clock: Clock;
  readonly random: Random;
  readonly firmware: Firmware;
  readonly timings: Timings;
  readonly faults: NonNullable<EquinixSimOptions["faults"]>;
  readonly projects: ReadonlyMap<string, SimProject>;
  readonly devices = new Map<string, SimDevice>();
  readonly byTag = new Map<string, Set<SimDevice>>();
  readonly byAddress = new Map<string, SimDevice>();
  readonly ports = new Map<string, SimPort>();
  readonly vlans = new Map<string, SimVlan>();
  readonly #vlansByNumber = new Map<string, SimVlan>();
  readonly sshKeys = new Map<string, SshKey>();
  readonly reservations = new Map<string, Reservation>();
  readonly capacity = new Map<string, number>();
  readonly spotPrices = new Map<string, number>();
  readonly purchases = new Map<string, Purchase>();
  readonly addresses = new AddressPlan();
  readonly elastic = new Elastic();
  readonly bgp = new Bgp();
  readonly gateways = new Map<string, SimGateway>();
  readonly spotRequests = new Map<string, SimSpotRequest>();
  /** To be called after every change of what a snapshot holds. */
  readonly changed: () => void;
  token: string;
  /** How many devices were ever racked. */
  racked = 0;
  /** How often a device came or went. */
  moves = 0;

  constructor(options: EquinixSimOptions) {
    this.clock = options.clock;
    this.random = options.random;
    this.firmware = options.firmware;
    this.timings = { ...REAL_TIMINGS, ...options.timings };
    this.faults = options.faults ?? {};
    this.changed = options.onChange ?? (() => {});
    this.token = options.token ?? DEFAULT_TOKEN;
    this.projects = new Map((options.projects ?? [DEFAULT_PROJECT]).map((project) => [project.id, project]));
    for (const [place, free] of Object.entries(options.capacity ?? {})) this.capacity.set(place, free);
    for (const [place, price] of Object.entries(options.spotPrices ?? {})) this.spotPrices.set(place, price);
    for (const { id = uuid(this.random), plan, metro } of options.reservations ?? []) {
      this.reservations.set(id, { id, plan, metro, device: undefined });
    }
  }

  nextNumber(): number {
    return this.racked++;
  }

  /** Makes a device known under all of its names. */
  place(device: SimDevice): void {
    this.moves++;
    this.devices.set(device.id, device);
    for (const port of device.ports) this.ports.set(port.id, port);
    for (const { address } of device.addresses) this.byAddress.set(address, device);
    this.#tag(device);
  }

  /** Keeps a device that was just sold. */
  add(device: SimDevice): void {
    this.place(device);
    this.purchases.set(device.id, {
      id: device.id,
      hostname: device.hostname,
      tags: device.tags,
      plan: device.plan.slug,
      metro: device.metro,
      at: device.createdAt,
      releasedAt: undefined,
    });
  }

  remove(device: SimDevice): void {
    this.moves++;
    this.devices.delete(device.id);
    for (const port of device.ports) this.ports.delete(port.id);
    for (const tag of device.tags) this.#untag(tag, device);
    this.setAddresses(device, []);
    this.elastic.release(device.id);
    this.bgp.release(device.id);
    this.purchases.get(device.id)!.releasedAt = this.clock.now();
  }

  setTags(device: SimDevice, tags: readonly string[]): void {
    for (const tag of device.tags) this.#untag(tag, device);
    device.tags = tags;
    this.#tag(device);
  }

  setAddresses(device: SimDevice, addresses: SimDevice["addresses"]): void {
    for (const { address } of device.addresses) this.byAddress.delete(address);
    device.addresses = addresses;
    for (const { address } of addresses) this.byAddress.set(address, device);
    this.touch(device);
  }

  /** To be called at every change of what the API shows of a device. */
  touch(device: SimDevice): void {
    device.updatedAt = this.clock.now();
    device.shown.clear();
  }

  record(device: SimDevice, type: string, body: string, state?: string): void {
    const event = { id: uuid(this.random), type, body, state, at: this.clock.now() };
    device.events = [...device.events.slice(1 - MAX_EVENTS), event];
    this.touch(device);
  }

  addVlan(vlan: SimVlan): void {
    this.vlans.set(vlan.id, vlan);
    this.#vlansByNumber.set(`${vlan.projectId}/${vlan.metro}/${vlan.vxlan}`, vlan);
  }

  removeVlan(vlan: SimVlan): void {
    this.vlans.delete(vlan.id);
    this.#vlansByNumber.delete(`${vlan.projectId}/${vlan.metro}/${vlan.vxlan}`);
  }

  /** A VLAN of a project's metro, by id or number. */
  vlan(projectId: string, metro: string, vnid: string): SimVlan | undefined {
    const vlan = this.vlans.get(vnid) ?? this.#vlansByNumber.get(`${projectId}/${metro}/${vnid}`);
    return vlan?.projectId === projectId && vlan.metro === metro ? vlan : undefined;
  }

  spotPrice(metro: string, plan: string): number {
    return this.spotPrices.get(`${metro}/${plan}`) ?? DEFAULT_SPOT_PRICE;
  }

  /** Free machines of a plan in a metro. */
  free(metro: string, plan: string): number {
    return this.capacity.get(`${metro}/${plan}`) ?? Number.POSITIVE_INFINITY;
  }

  addCapacity(metro: string, plan: string, n: number): void {
    const place = `${metro}/${plan}`;
    const free = this.capacity.get(place);
    if (free !== undefined) this.capacity.set(place, free + n);
  }

  #tag(device: SimDevice): void {
    for (const tag of device.tags) {
      const tagged = this.byTag.get(tag);
      if (tagged === undefined) this.byTag.set(tag, new Set([device]));
      else tagged.add(device);
    }
  }

  #untag(tag: string, device: SimDevice): void {
    const tagged = this.byTag.get(tag);
    tagged?.delete(device);
    if (tagged?.size === 0) this.byTag.delete(tag);
  }
}
