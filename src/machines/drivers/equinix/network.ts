import { Fault, isFault } from "@slipway/base";
import type { Machine, NetworkWish } from "../../machine.ts";
import type { MetalClient } from "./client.ts";
import { type VlanNumbers, vlanNumber } from "./observe.ts";
import { type PortStep, portSteps, unmet } from "./ports.ts";

/** More rounds than any pair of modes needs; what is not settled by then is left to the next call. */
const MAX_ROUNDS = 12;

export interface NetworkPorts {
  client: MetalClient;
  numbers: VlanNumbers;
  project: (signal?: AbortSignal) => Promise<string>;
  read: (id: string, signal?: AbortSignal) => Promise<Machine | undefined>;
}

/** The wish with every VLAN id that is known written as its number. */
export function numbered(wish: NetworkWish, numbers: VlanNumbers): NetworkWish {
  return {
    ...wish,
    vlans: wish.vlans.map(({ port, vlans }) => ({ port, vlans: vlans.map((vlan) => numbers.get(vlan) ?? vlan) })),
  };
}

/**
 * Makes the calls that are missing, kind by kind, and reads the machine again after each kind: a conversion moves more than one port.
 * An answer that the port already stands so counts as done. Returns early, unsettled, when a round changed nothing.
 */
export async function setNetwork(
  machine: Machine,
  wish: NetworkWish,
  ports: NetworkPorts,
  signal?: AbortSignal,
): Promise<Machine> {
  const impossible = unmet(machine.ports, wish);
  if (impossible.length > 0) {
    throw new Fault("MissingInput", `device ${machine.hostname}`, impossible.join("; "), {
      remedy: "correct networkingConfiguration and replace the machine",
    });
  }
  let now = machine;
  let before = "";
  let known = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (!known && needsVlans(now, wish, ports.numbers)) {
      await learnVlans(now, wish, ports, signal);
      known = true;
    }
    const steps = portSteps(now.ports, numbered(wish, ports.numbers));
    const first = steps[0];
    const all = JSON.stringify(steps);
    if (first === undefined || all === before) return now;
    before = all;
    for (const step of steps.filter((one) => one.do === first.do)) await carryOut(step, ports.client, signal);
    now = (await ports.read(now.id, signal)) ?? gone(now);
  }
  return now;
}

async function carryOut(step: PortStep, client: MetalClient, signal: AbortSignal | undefined): Promise<void> {
  try {
    await client.port(step, signal);
  } catch (error) {
    if (!isFault(error, "AlreadyConfigured")) throw error;
  }
}

/** Whether the project's VLANs must be asked for: an id without a number, or a number that may have to be created. */
function needsVlans(machine: Machine, wish: NetworkWish, numbers: VlanNumbers): boolean {
  const steps = portSteps(machine.ports, numbered(wish, numbers));
  return steps.some((step) => step.do === "assign" && (wish.createVlans === true || !isNumber(step.vlan)));
}

async function learnVlans(
  machine: Machine,
  wish: NetworkWish,
  { client, numbers, project }: NetworkPorts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const on = `device ${machine.hostname}`;
  const { metro } = machine;
  if (metro === undefined)
    throw new Fault("Unavailable", on, "the API does not say its metro, so its VLANs can't be found");
  const projectId = await project(signal);
  const present = new Set((await client.vlans(projectId, metro, signal)).map((vlan) => vlanNumber(vlan, numbers)));
  for (const vlan of numbered(wish, numbers).vlans.flatMap((entry) => entry.vlans)) {
    if (present.has(vlan)) continue;
    if (!isNumber(vlan)) {
      throw new Fault("MissingInput", on, `there is no VLAN ${vlan} in metro ${metro}`, {
        remedy: "create it in the project, or name one that is there",
      });
    }
    if (wish.createVlans) await createVlan(client, projectId, { metro, vxlan: Number(vlan) }, signal);
    present.add(vlan);
  }
}

async function createVlan(
  client: MetalClient,
  project: string,
  vlan: { metro: string; vxlan: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await client.createVlan(project, vlan, signal);
  } catch (error) {
    // Another machine of the same pool was faster.
    if (!isFault(error, "AlreadyConfigured")) throw error;
  }
}

function isNumber(vlan: string): boolean {
  return /^\d+$/.test(vlan);
}

function gone(machine: Machine): never {
  throw new Fault("NotFound", `device ${machine.hostname}`, "vanished while its ports were set");
}
