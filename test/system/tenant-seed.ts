/** The lives of a few tenants under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { Fault, type Random, seededRandom } from "@slipway/base";
import type { SimDatabase } from "../../src/sim/tenants/sim-database.ts";
import { interruptible } from "./mortal.ts";
import { crewOfReplicas, type Staff } from "./staff.ts";
import { MINUTE, TenantLifeWorld } from "./tenant-life-world.ts";

const NAMES = ["a", "b", "c"];
const MISCHIEF_MS = 90 * MINUTE;

/** What a user wants of a tenant; undefined: that there is none. */
type Wish =
  | { version: string; replicas: number; dataStore: string; elsewhere: Readonly<Record<string, string>> }
  | undefined;

const STORES = ["default", "other"];
/** Where some tenants have their events. */
const EVENTS = "events";

function nextWish(held: Wish, draw: Random): NonNullable<Wish> {
  const chance = (p: number): boolean => draw.fraction() < p;
  const minor = Number(held?.version.split(".")[1] ?? 31 + draw.int(3)) + (chance(0.4) ? draw.int(4) : 0);
  const dataStore = held === undefined || chance(0.4) ? STORES[draw.int(STORES.length)]! : held.dataStore;
  // Events may go elsewhere at any time, other resources when the tenant is made.
  const elsewhere = {
    ...(held === undefined ? chance(0.2) && { "/pods": EVENTS } : held.elsewhere),
    ...(chance(0.2) && { "/events": EVENTS }),
  };
  return { elsewhere, version: `v1.${minor}.${draw.int(3)}`, replicas: chance(0.2) ? 0 : 1 + draw.int(2), dataStore };
}

async function makeStores(world: TenantLifeWorld): Promise<void> {
  for (const name of [...STORES, EVENTS]) await world.dataStore(name);
}

/** One operator, which is restarted now and then. The API is out of its reach now and then. */
function oneOperator(): Staff<TenantLifeWorld> {
  let isDown = false;
  let world!: TenantLifeWorld;
  return {
    transport: (inner) => interruptible(inner, () => isDown),
    async begin(in_) {
      world = in_;
      await world.operator();
    },
    async mischief(draw) {
      isDown = draw.fraction() < 0.05;
      if (draw.fraction() >= 0.03) return;
      isDown = false;
      await world.restart();
    },
    async mend() {
      isDown = false;
    },
  };
}

/** Replicas that share the work, come and go, while the control planes run on. */
function replicas(): Staff<TenantLifeWorld> {
  const crew = crewOfReplicas();
  return { ...crew, begin: (world) => crew.begin(world.crewWorld()) };
}

/** The same, worked on by replicas that share the work. */
export const tenantsOverShards = (seed: number): Promise<void> =>
  tenantsUnderFaults(seed, { staff: replicas(), mischiefMs: 30 * MINUTE });

/** Plays the history of one seed. Throws when it does not converge or an invariant is broken. */
export async function tenantsUnderFaults(
  seed: number,
  { staff = oneOperator(), mischiefMs = MISCHIEF_MS }: { staff?: Staff<TenantLifeWorld>; mischiefMs?: number } = {},
): Promise<void> {
  const draw = seededRandom(seed * 7919 + 11);
  const chance = (p: number): boolean => draw.fraction() < p;
  let isMischief = true;
  const world = await TenantLifeWorld.create({
    seed,
    transport: staff.transport,
    befall(call) {
      if (!isMischief || !chance(0.1)) return;
      throw new Fault(chance(0.5) ? "LostAnswer" : "Timeout", "the database", `${call}: its answer did not come`);
    },
  });
  try {
    // One that comes too late is waited for (B18).
    const isLate = chance(0.3);
    if (!isLate) await makeStores(world);
    await staff.begin(world);
    const wishes = new Map<string, Wish>();
    const ends = world.clock.now() + mischiefMs;
    await world.until(
      "mischief is over",
      async () => {
        await world.check();
        if (world.databases.size === 0 && chance(0.1)) await makeStores(world);
        await mischief();
        const name = NAMES[draw.int(NAMES.length)]!;
        if (chance(0.05)) await wish(name, wishes);
        return world.clock.now() >= ends;
      },
      2 * mischiefMs,
      20_000,
    );
    isMischief = false;
    await staff.mend();
    if (world.databases.size === 0) await makeStores(world);
    for (const database of world.databases.values()) database.mend();
    await world.until("all are as they should be", () => isConverged(wishes), 6 * 60 * MINUTE, 20_000);
    for (const { metadata } of await world.tenants()) await world.delete(metadata.name);
    await world.until("all are gone", async () => (await world.tenants()).length === 0, 6 * 60 * MINUTE, 20_000);
    await world.clock.run(MINUTE);
    await world.check();
    await world.checkNothingLeft();
  } finally {
    await world.close();
  }

  async function wish(name: string, wishes: Map<string, Wish>): Promise<void> {
    const held = wishes.get(name);
    if (held !== undefined && chance(0.25)) {
      wishes.set(name, undefined);
      return await world.delete(name);
    }
    // One that still goes is waited for, as by a user who sees its name taken.
    const isThere = (await world.tenants()).some(({ metadata }) => metadata.name === name);
    if (held === undefined && isThere) return;
    const next = nextWish(held, draw);
    wishes.set(name, next);
    await world.apply(name, next);
  }

  async function mischief(): Promise<void> {
    await staff.mischief(draw);
    for (const database of world.databases.values()) trouble(database);
    const ready = world.runtime.ready();
    if (ready.length > 0 && chance(0.05)) world.runtime.crash(ready[draw.int(ready.length)]!);
    // An account with rights on Secrets loses one.
    if (chance(0.02)) await world.loseSecret(draw);
  }

  function trouble(database: SimDatabase): void {
    if (chance(0.03)) database.isUp = !database.isUp;
    if (chance(0.03)) database.isFull = !database.isFull;
    if (chance(0.03)) database.callMs = chance(0.3) ? 25_000 : 5;
  }

  async function isConverged(wishes: ReadonlyMap<string, Wish>): Promise<boolean> {
    await world.check();
    const tenants = new Map((await world.tenants()).map((tenant) => [tenant.metadata.name, tenant]));
    return NAMES.every((name) => {
      const wanted = wishes.get(name);
      const tenant = tenants.get(name);
      if (wanted === undefined || tenant === undefined) return wanted === undefined && tenant === undefined;
      const held = tenant.status?.kubernetesResources?.version;
      if (tenant.status?.storage?.dataStoreName !== wanted.dataStore) return false;
      if (wanted.replicas === 0) return held?.status === "Sleeping";
      return held?.status === "Ready" && held.version === wanted.version;
    });
  }
}

const PAIRS = [1, 2, 3];

/** Pairs of tenants that name one schema and user, worked on by replicas that come and go: in each pair one has them, and the other one once that is gone. */
export async function rivalsOverShards(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 13);
  const crew = replicas();
  const world = await TenantLifeWorld.create({ seed, transport: crew.transport });
  const named = (pair: number): string[] => [`one-${pair}`, `two-${pair}`];
  const stateOf = async (): Promise<Map<string, string>> =>
    new Map(
      (await world.tenants()).map(({ metadata, status }) => {
        const refusal = status?.conditions?.find(({ message }) => /is of tenant/.test(message ?? ""));
        return [metadata.name, refusal ? "refused" : (status?.kubernetesResources?.version?.status ?? "")];
      }),
    );
  const each = (states: ReadonlyMap<string, string>, wanted: readonly string[]): boolean =>
    PAIRS.every((pair) => {
      const found = named(pair).flatMap((name) => states.get(name) ?? []);
      return found.sort().join() === wanted.join();
    });
  try {
    await world.dataStore("default");
    await crew.begin(world);
    const all = PAIRS.flatMap((pair) => named(pair).map((name) => ({ name, names: `shared-${pair}` })));
    while (all.length > 0) {
      const [{ name, names }] = all.splice(draw.int(all.length), 1) as [(typeof all)[number]];
      await world.apply(name, { names });
    }
    const ends = world.clock.now() + 10 * MINUTE;
    const step = async (holds: () => Promise<boolean>): Promise<boolean> => {
      await world.check();
      const isOver = world.clock.now() >= ends;
      await (isOver ? crew.mend() : crew.mischief(draw));
      return isOver && (await holds());
    };
    const isDecided = async () => each(await stateOf(), ["Ready", "refused"]);
    await world.until("one of each pair has the names", () => step(isDecided), 6 * 60 * MINUTE, 20_000);
    for (const [name, state] of await stateOf()) if (state === "Ready") await world.delete(name);
    const isHandedOn = async () => each(await stateOf(), ["Ready"]);
    await world.until("the other one has them", () => step(isHandedOn), 6 * 60 * MINUTE, 20_000);
    await world.check();
    for (const { metadata } of await world.tenants()) await world.delete(metadata.name);
    await world.until("all are gone", async () => (await world.tenants()).length === 0, 6 * 60 * MINUTE, 20_000);
    await world.checkNothingLeft();
    assert.deepEqual(world.broken, []);
  } finally {
    await world.close();
  }
}
