/** What is known of a host when its next step is decided: its object, its machine, its BMC, and what this process remembers of it. */
import { Fault, uuid } from "@slipway/base";
import { type Context, keyOf, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import { bootMacOf, isOfDiscovery } from "../discovery/declaration.ts";
import type { BmcViews } from "./bmc-views.ts";
import { isDescribed } from "./describe.ts";
import type { BmcView, Facts } from "./facts.ts";
import type { HostCards } from "./host-cards.ts";
import type { HostMemory } from "./host-memory.ts";
import type { Machines } from "./machines.ts";
import { IDLE_LOOK_MS } from "./power-stage.ts";
import type { Room } from "./room.ts";
import { isWork, stateOf } from "./state.ts";

/** Old enough to be asked again while something is done with the host. */
export const WORK_LOOK_MS = 2_000;

export interface LookPorts {
  views: BmcViews;
  machines: Machines;
  room: Room;
  memory: HostMemory;
  cards: HostCards;
  /** Where discovery puts its hosts. */
  namespace: string;
}

/** Looks at a host. Rejects as the API does; a BMC that can't be asked is a fact. */
export async function look(host: BareMetalHost, context: Context, ports: LookPorts): Promise<Facts> {
  const { views, machines, room, memory, cards, namespace } = ports;
  const { clock, client, cache, random, signal } = context;
  const state = stateOf(host);
  const maxAgeMs = isWork(state) ? WORK_LOOK_MS : IDLE_LOOK_MS / 2;
  const bmc = asWritten(await views.view(host, { client, maxAgeMs, signal }), context);
  const key = keyOf(refOf(host));
  const recorded = cache.get(HardwareData, refOf(host));
  const names = [...bootMacOf(host), ...(isOfDiscovery(host, namespace) ? [host.metadata.name] : [])];
  cards.note(refOf(host), names);
  const machine = names.map((each) => machines.get(each)).find((each) => each !== undefined);
  return {
    now: clock.now(),
    host,
    machine,
    standing: machine && machines.standing(machine.name),
    rival: machine && rivalOf(host, machine, { cache, namespace }),
    isShared: machine !== undefined && othersOf(host, machine, { cache, namespace }).length > 0,
    bmc,
    recorded: recorded?.spec.hardware,
    isDescribed: isDescribed(host, machine?.inventory, recorded),
    isFirmwareRead: memory.hasReadFirmware(key, host.status?.operation?.startedAt),
    hasRoom: room.hasFor(key),
    isOffered: (id) => memory.offers(key, id),
    isStarted: (announcedAt) => memory.hasStarted(key, announcedAt),
    newId: uuid(random),
  };
}

/** What a BMC refuses in the words that the status gets: as one line without secrets. Others would never be found there again, and be news each time. */
function asWritten(view: BmcView | undefined, { clean }: Pick<Context, "clean">): BmcView | undefined {
  if (view?.is !== "fails") return view;
  const { code, advice, on } = view.fault;
  const written = clean(advice);
  if (written === advice) return view;
  const place = clean(on);
  const said = written.startsWith(`${place}: `) ? written.slice(place.length + 2) : written;
  return { ...view, fault: new Fault(code, place, said, { cause: view.fault }) };
}

/** What discovery made of a machine gives way to who declares it, until it is used. `namespace`: discovery's. */
function rivalOf(host: BareMetalHost, machine: Host, at: Pick<Context, "cache"> & { namespace: string }) {
  const other = othersOf(host, machine, at).find(
    (each) => !(isOfDiscovery(each, at.namespace) && ["", "unmanaged"].includes(stateOf(each))),
  );
  return other && `${other.metadata.namespace}/${other.metadata.name}`;
}

/** The other objects of the machine: by its cards, and by its name. */
function othersOf(
  host: BareMetalHost,
  { name, macs }: Host,
  { cache, namespace }: Pick<Context, "cache"> & { namespace: string },
): BareMetalHost[] {
  const byName = cache.get(BareMetalHost, { namespace, name });
  const known = macs.flatMap((mac) => cache.byIndex(BareMetalHost, "mac", mac));
  return [...known, ...(byName === undefined ? [] : [byName])].filter(
    ({ metadata }) => metadata.uid !== host.metadata.uid,
  );
}
