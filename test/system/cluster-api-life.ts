/** Lives of a cluster under the light core, for deaths at each effect and for faults by seed. The provider and the workload clusters are those of the tests. */
import assert from "node:assert/strict";
import { quietLog, type Random, seededRandom } from "@slipway/base";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineHealthCheck } from "../../src/kinds/cluster-api/machine-health-check.ts";
import { MachineSet } from "../../src/kinds/cluster-api/machine-set.ts";
import { PROVIDER_KINDS, SimBootstrap, SimMachine } from "./cluster-api-provider.ts";
import { CLUSTER, CoreWorld, conditionOf, NAMESPACE } from "./cluster-api-world.ts";
import { type Death, successor } from "./mortal.ts";
import { crewOfReplicas, oneOperator, type Staff } from "./staff.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const NAME = "workers";
const REF = { namespace: NAMESPACE, name: NAME };
const TEMPLATES = ["a", "b"];

async function makeHealthCheck(world: CoreWorld): Promise<void> {
  const draft = {
    metadata: { namespace: NAMESPACE, name: "health" },
    spec: {
      clusterName: CLUSTER,
      selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": NAME } },
      checks: {
        nodeStartupTimeoutSeconds: 900,
        unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 60 }],
      },
    },
  };
  await world.whileTimePasses(world.client.create(MachineHealthCheck, draft as never));
}

const toTemplate = (name: string) => ({ spec: { template: { spec: { infrastructureRef: { name } } } } });

/** Names of all objects of a kind. */
async function namesOf(world: CoreWorld, kind: typeof SimMachine): Promise<string[]> {
  const { items } = await world.whileTimePasses(world.client.list(kind));
  return items.map(({ metadata }) => metadata.name).toSorted();
}

/** All Machines are of the template, there are as many as wanted, each has one host and one bootstrap object, and no other is left. */
async function isSettled(world: CoreWorld, template: string, replicas: number): Promise<boolean> {
  const { status } = await world.deployment(NAME);
  const counts = [status?.replicas, status?.upToDateReplicas, status?.availableReplicas];
  const sets = await world.sets();
  const machines = await world.machines();
  const isDone =
    counts.every((count) => (count ?? 0) === replicas) &&
    sets.length === 1 &&
    sets[0]!.spec.template.spec.infrastructureRef.name === template &&
    machines.length === replicas;
  if (!isDone) return false;
  const names = machines
    .map(({ metadata }) => metadata.name)
    .toSorted()
    .join();
  for (const kind of [SimMachine, SimBootstrap]) if ((await namesOf(world, kind)).join() !== names) return false;
  return true;
}

/** The Cluster is deleted. Nothing of it is left but templates that were never used. */
async function end(world: CoreWorld, until: (what: string, holds: () => Promise<boolean>) => Promise<void>) {
  await world.whileTimePasses(world.client.delete(Cluster, { namespace: NAMESPACE, name: CLUSTER }));
  await until("the Cluster is gone", async () => (await world.cluster()) === undefined);
  await world.clock.run(2 * MINUTE);
  const provided = PROVIDER_KINDS.map(([kind]) => kind!).filter(({ kind }) => !kind.endsWith("Template"));
  const kinds = [MachineDeployment, MachineSet, Machine, MachineHealthCheck, ...provided];
  const left: string[] = [];
  for (const kind of kinds as unknown as (typeof SimMachine)[])
    for (const name of await namesOf(world, kind)) left.push(`${kind.kind}/${name}`);
  assert.deepEqual(left, [], "nothing is left");
  assert.equal(world.provider.released, world.provider.made, "every host was given back");
}

/**
 * Two Machines are made, replaced by a roll-out, one more comes, one becomes unhealthy and is replaced, and the Cluster is deleted. The operator
 * dies as said, and another one takes over. Resolves with the effects of the first and the hosts that were made.
 */
export async function lifeOfCore(death?: Death): Promise<{ effects: number; made: number }> {
  const world = await CoreWorld.create({ log: quietLog });
  try {
    const { mortal } = await world.operator(death && { death });
    const replaceDead = successor(mortal, () => world.operator());
    let most = 2;
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(
        what,
        async () => {
          await replaceDead();
          const machines = await world.machines();
          if (machines.length > most)
            throw new Error(`${machines.length} Machines where ${most} are the most\n${await world.story()}`);
          return await holds();
        },
        2 * HOUR,
        10 * SECOND,
      );
    await world.make();
    await world.deploy(NAME, 2);
    await makeHealthCheck(world);
    await until("two Machines", () => isSettled(world, "a", 2));
    // maxSurge is 1 where nothing else is said.
    most = 3;
    await world.patch(NAME, toTemplate("b"));
    await until("the roll-out is over", () => isSettled(world, "b", 2));
    await world.patch(NAME, { spec: { replicas: 3 } });
    await until("a third Machine", () => isSettled(world, "b", 3));
    const [sick] = await world.machines();
    await world.whileTimePasses(world.provider.setReady(CLUSTER, sick!.metadata.name, "Unknown"));
    await until("the unhealthy one is replaced", async () => {
      const isThere = (await world.machines()).some(({ metadata }) => metadata.uid === sick!.metadata.uid);
      return !isThere && (await isSettled(world, "b", 3));
    });
    await end(world, until);
    return { effects: mortal.effects, made: world.provider.made };
  } finally {
    await world.close();
  }
}

/** A cluster whose user changes his mind, whose Nodes and hosts fail, and whose operators die, drawn from a seed. The same seed is the same history. */
export async function coreUnderFaults(seed: number, staff: Staff = oneOperator(0.04)): Promise<void> {
  const draw = seededRandom(seed * 6_421 + 5);
  const chance = (p: number): boolean => draw.fraction() < p;
  const world = await CoreWorld.create({
    seed,
    transport: staff.transport,
    provider: { hostMs: 1_000 * draw.int(120), joinMs: 1_000 * draw.int(60), releaseMs: 1_000 * draw.int(120) },
  });
  const key = `${NAMESPACE}/${CLUSTER}`;
  try {
    await staff.begin(world);
    await world.make();
    const wish = { template: "a", replicas: draw.int(4) };
    await world.deploy(NAME, wish.replicas, strategyOf(draw));
    await makeHealthCheck(world);
    const ends = world.clock.now() + 60 * MINUTE;
    const mischief = async (): Promise<boolean> => {
      await staff.mischief(draw);
      if (chance(0.03)) world.provider.unreachable[chance(0.5) ? "add" : "delete"](key);
      if (chance(0.05)) await changeMind(world, wish, draw);
      if (chance(0.05)) await breakMachine(world, draw);
      return world.clock.now() >= ends;
    };
    await world.until(`mischief is over (seed ${seed})`, mischief, 2 * HOUR, 20 * SECOND);
    await staff.mend();
    world.provider.unreachable.clear();
    const isOnDelete = (await world.deployment(NAME)).spec.rollout?.strategy?.type === "OnDelete";
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(`${what} (seed ${seed})`, holds, 12 * HOUR, 20 * SECOND);
    await until("all are as they should be", async () => {
      // With OnDelete a user deletes what is of an old template.
      if (isOnDelete) await deleteOld(world, wish.template);
      return await isSettled(world, wish.template, wish.replicas);
    });
    if (chance(0.5)) await world.whileTimePasses(world.client.delete(MachineDeployment, REF));
    if (chance(0.3)) await world.clock.run(draw.int(3 * MINUTE));
    await end(world, until);
  } finally {
    await world.close();
  }
}

/** The same, worked on by replicas that share the work, come and go. */
export const coreOverShards = (seed: number): Promise<void> => coreUnderFaults(seed, crewOfReplicas());

/** How its roll-outs go. */
function strategyOf(draw: Random): object {
  const paces = [
    [1, 0],
    [0, 1],
    ["50%", "50%"],
    [2, 1],
  ] as const;
  const [maxSurge, maxUnavailable] = paces[draw.int(paces.length)]!;
  const type = draw.fraction() < 0.2 ? "OnDelete" : "RollingUpdate";
  return {
    rollout: {
      strategy: type === "OnDelete" ? { type } : { type, rollingUpdate: { maxSurge, maxUnavailable } },
    },
  };
}

/** The user wants another template, or another number. */
async function changeMind(world: CoreWorld, wish: { template: string; replicas: number }, draw: Random): Promise<void> {
  if (draw.fraction() < 0.5) {
    wish.template = TEMPLATES[draw.int(TEMPLATES.length)]!;
    await world.patch(NAME, toTemplate(wish.template));
  } else {
    wish.replicas = draw.int(5);
    await world.patch(NAME, { spec: { replicas: wish.replicas } });
  }
}

/** A Node that says nothing, a host that never joins, or a Machine that a user deletes. */
async function breakMachine(world: CoreWorld, draw: Random): Promise<void> {
  const machines = await world.machines();
  const machine = machines[draw.int(Math.max(1, machines.length))];
  if (machine === undefined) return;
  const { name } = machine.metadata;
  const what = draw.int(3);
  if (what === 0) await world.whileTimePasses(world.client.delete(Machine, { namespace: NAMESPACE, name }));
  else if (machine.status?.nodeRef === undefined) world.provider.broken.add(name);
  else if (conditionOf(machine, "NodeReady")?.status === "True")
    await world.whileTimePasses(world.provider.setReady(CLUSTER, name, "Unknown").catch(() => {}));
}

async function deleteOld(world: CoreWorld, template: string): Promise<void> {
  const old = new Set(
    (await world.sets())
      .filter(({ spec }) => spec.template.spec.infrastructureRef.name !== template)
      .map(({ metadata }) => metadata.uid),
  );
  for (const { metadata } of await world.machines())
    if (metadata.deletionTimestamp === undefined && metadata.ownerReferences?.some(({ uid }) => old.has(uid)))
      await world.whileTimePasses(world.client.delete(Machine, { namespace: NAMESPACE, name: metadata.name }));
}
