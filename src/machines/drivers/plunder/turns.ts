import { type Clock, Fault, isFault } from "@slipway/base";
import type { Machine, Order, Phase } from "../../machine.ts";
import type { NetbootApi } from "./api.ts";
import { type Chosen, chooseFrom, concernsAbout, needsHardware } from "./choose.ts";
import type { ServedMachine, WaitingMachine } from "./wire.ts";

/** Machines that others took between two looks. */
const MOST_TRIES = 8;
/** Orders that wait for a machine share one look. */
const WAITING_MS = 10_000;

const PHASES: Readonly<Record<Exclude<ServedMachine["state"], "wiped">, Phase>> = {
  waiting: "building",
  // It runs once it has fetched its bootstrap data, which the boot service knows.
  installed: "building",
  failed: "failed",
  releasing: "releasing",
};

/** What claims have of a netboot's machines: each look and each claim, with what a netboot may not say of them refused. */
export class NetbootTurns {
  readonly #api: NetbootApi;
  readonly #clock: Pick<Clock, "monotonic">;
  /** The netboot, as messages name it. */
  readonly #on: string;
  #looked: { at: number; machines: Promise<readonly WaitingMachine[]> } | undefined;

  constructor(api: NetbootApi, { on, clock }: { on: string; clock: Pick<Clock, "monotonic"> }) {
    this.#api = api;
    this.#on = on;
    this.#clock = clock;
  }

  /** Which waiting machines the order may have; a moment old. */
  async candidates(order: Order): Promise<Chosen> {
    const now = this.#clock.monotonic();
    if (this.#looked === undefined || now - this.#looked.at >= WAITING_MS) {
      const look = { at: now, machines: this.#api.waiting(true) };
      this.#looked = look;
      look.machines.catch(() => {
        if (this.#looked === look) this.#looked = undefined;
      });
    }
    return chooseFrom(await this.#looked.machines, order);
  }

  async list(signal?: AbortSignal): Promise<Machine[]> {
    const machines = (await this.#api.machines(undefined, signal)).filter(({ state }) => state !== "wiped");
    for (const key of ["mac", "claim"] as const)
      if (new Set(machines.map((each) => each[key])).size < machines.length)
        throw this.#lie(`it names a ${key === "mac" ? "machine" : "claim"} twice`);
    return machines.map(machineOf);
  }

  async find(claim: string, signal?: AbortSignal): Promise<Machine[]> {
    const machine = await this.#claimed(claim, signal);
    return machine === undefined || machine.state === "wiped" ? [] : [machineOf(machine)];
  }

  /** Undefined: it is wiped. Rejects with a `Fault` where the netboot knows no such machine: it may run for all that, and Secret `plunder` name another netboot. */
  async read(id: string, signal?: AbortSignal): Promise<Machine | undefined> {
    const machine = await this.#known(id, signal);
    if (machine !== undefined) return machine.state === "wiped" ? undefined : machineOf(machine);
    const what = `it does not know machine ${id} any more, and has no proof that it was wiped`;
    throw new Fault("Unavailable", this.#on, what, {
      remedy: "see that Secret plunder names the netboot that the machine is of; else look after the machine yourself",
    });
  }

  async proofOf(id: string, signal?: AbortSignal): Promise<string | undefined> {
    const machine = await this.#known(id, signal);
    return machine?.state === "wiped" ? machine.message : undefined;
  }

  /** Takes a machine for the order. Rejects with a `Fault`: `NoCapacity`, what the API answers. */
  async begin(order: Order, signal?: AbortSignal): Promise<Machine> {
    const { claim, claimant, hostname, operatingSystem, boot } = order;
    const problem = concernsAbout(order).find(({ fatal }) => fatal);
    const { seedUrl } = boot;
    if (problem !== undefined || seedUrl === undefined) {
      const what = problem === undefined ? "there are no bootstrap data" : `${problem.field}: ${problem.message}`;
      throw new Fault("Invalid", `host for ${hostname}`, what);
    }
    const { fitting, others } = chooseFrom(await this.#api.waiting(needsHardware(order), signal), order);
    for (const { mac } of fitting.slice(0, MOST_TRIES)) {
      await boot.forHost?.(mac);
      const { kind, namespace = "", name } = claimant;
      const holder = `${kind}/${namespace}/${name}`;
      const wanted = { mac, bootConfigName: operatingSystem, claim, holder, hostname, seedUrl };
      try {
        return machineOf(await this.#api.claim(wanted, signal));
      } catch (error) {
        if (!isFault(error, "AlreadyExists", "Conflict", "NotFound")) throw error;
        // An earlier request of this claim may have come after the look for it.
        const [own] = await this.find(claim, signal);
        if (own === undefined) continue;
        await boot.forHost?.(own.bootMac!);
        return own;
      }
    }
    const taken = `others took those that fit (${fitting.length})`;
    throw new Fault("NoCapacity", this.#on, fitting.length > 0 ? taken : `none of those that wait fits: ${others}`);
  }

  async end(id: string, signal?: AbortSignal): Promise<void> {
    await this.#api.release(partsOf(id).claim, signal);
  }

  async #claimed(claim: string, signal?: AbortSignal): Promise<ServedMachine | undefined> {
    const [machine, ...more] = (await this.#api.machines(claim, signal)).filter((each) => each.claim === claim);
    if (more.length > 0) throw this.#lie(`it names ${more.length + 1} machines for the claim ${claim}`);
    return machine;
  }

  /** What became of the machine of an id. */
  async #known(id: string, signal?: AbortSignal): Promise<ServedMachine | undefined> {
    const { mac, claim } = partsOf(id);
    const machine = await this.#claimed(claim, signal);
    if (machine === undefined || machine.mac === mac) return machine;
    throw this.#lie(`it names ${machine.mac} for the claim ${claim}, whose machine is ${mac}`);
  }

  #lie(what: string): Fault {
    return new Fault("Unavailable", this.#on, what, { remedy: "find out whether this is the netboot that you mean" });
  }
}

/** `52-54-00-12-34-56/UID`. */
function partsOf(id: string): { mac: string; claim: string } {
  const [mac = "", claim = ""] = id.split("/");
  return { mac: mac.replaceAll("-", ":"), claim };
}

function machineOf({ claim, mac, hostname, state, message, address, createdAt }: ServedMachine): Machine {
  const management = { family: address?.includes(":") ? (6 as const) : (4 as const), public: false, management: true };
  return {
    id: `${mac.replaceAll(":", "-")}/${claim}`,
    ...{ claim, hostname, createdAt, bootMac: mac },
    phase: state === "wiped" ? "releasing" : PHASES[state],
    providerState: state,
    lastEvent: message || undefined,
    addresses: address === undefined ? [] : [{ address, ...management }],
    ...{ plan: undefined, metro: undefined, locked: false, terminatesAt: undefined, progress: undefined, ports: [] },
  };
}
