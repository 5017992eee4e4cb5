import { Fault, isFault, isoTime } from "@slipway/base";
import type { Context, Outcome } from "@slipway/kube";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine, Placement } from "../../machines/machine.ts";
import { unrecorded } from "./adoption.ts";
import { orderOf, placementsOf, specConcerns } from "./claim.ts";
import type { Harvester } from "./harvester.ts";
import { tellSome } from "./tell.ts";

const LOOK_AGAIN_MS = 10_000;
/** Faults after which the provider surely has sold nothing. */
const NO_EFFECT = ["Throttled", "Unavailable", "BadCredentials", "Invalid", "Forbidden", "Unauthorized"] as const;

/**
 * Buys a machine, once: the order is written down under the object's version, the provider is asked who carries the claim already,
 * and only then is it sent. Whatever happens in between, the next call finds the order and looks before it sends another (H1).
 */
export async function order(
  harvester: Harvester,
  context: Context,
  fleet: Fleet,
  instance: Instance,
  step: { attempt: number; placement: number },
): Promise<Outcome> {
  const placement = placementsOf(instance.spec)[step.placement]!;
  const onDemand = instance.spec.spotFallback === "OnDemand" && step.attempt > placementsOf(instance.spec).length;
  refuseImpossible(fleet, instance, placement, context, onDemand);
  const boot = await harvester.boots.prepare(context, instance, { pass: 1 });
  const purchase = {
    attempt: step.attempt,
    at: isoTime(context.clock.now()),
    state: "Pending" as const,
    placement: step.placement,
    ...(onDemand && { onDemand }),
  };
  const before = instance.status?.purchase;
  const written = await tellSome(context, instance, { purchase, boot: { id: boot.id, pass: 1, at: boot.at } });
  await harvester.boots.publish(context, instance, boot);
  context.signal.throwIfAborted();
  const claimed = await fleet.driver.find(instance.metadata.uid, context.signal);
  const existing = claimed.length > 0 ? claimed : await unrecorded(fleet, instance);
  if (existing.length > 0) return await bought(harvester, context, fleet, written, existing);
  try {
    const machine = await fleet.driver.create(orderOf(instance, placement, boot, onDemand), context.signal);
    return await bought(harvester, context, fleet, written, [machine]);
  } catch (error) {
    if (isFault(error, "NoCapacity")) return await refused(context, written, error);
    if (isFault(error, ...NO_EFFECT)) await tellSome(context, written, { purchase: before });
    throw error;
  }
}

/** Asks the provider who carries the claim of an order whose answer was lost. */
export async function look(harvester: Harvester, context: Context, fleet: Fleet, instance: Instance): Promise<Outcome> {
  const existing = await fleet.driver.find(instance.metadata.uid, context.signal);
  return existing.length > 0
    ? await bought(harvester, context, fleet, instance, existing)
    : { againAfterMs: LOOK_AGAIN_MS };
}

/** Writes down which machine is the claim's. Should the provider have sold two, the younger goes back at once. */
export async function bought(
  harvester: Harvester,
  context: Context,
  fleet: Fleet,
  instance: Instance,
  machines: readonly Machine[],
): Promise<Outcome> {
  const [first, ...extra] = machines.toSorted(
    (a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const machine = fleet.note(first!);
  const { purchase, boot } = instance.status ?? {};
  await tellSome(context, instance, {
    instanceID: machine.id,
    status: machine.phase === "running" ? "provisioning" : machine.providerState,
    machineState: machine.providerState,
    provider: fleet.driver.type,
    ...(machine.plan !== undefined && {
      placement: { plan: machine.plan, ...(machine.metro !== undefined && { metro: machine.metro }) },
    }),
    ...(purchase !== undefined && { purchase: { ...purchase, state: "Done" } }),
    ...(boot !== undefined && { boot: { ...boot, sent: true } }),
  });
  context.events.normal(
    instance,
    "Ordered",
    `machine ${machine.id}${machine.metro === undefined ? "" : ` in ${machine.metro}`}`,
  );
  for (const machine of extra) {
    context.events.warning(instance, "ReleasingDuplicate", `machine ${machine.id} carries the same claim`);
    await fleet.driver.release(machine.id, { force: true }, context.signal);
  }
  return { againAfterMs: harvester.pollMs };
}

async function refused(context: Context, instance: Instance, fault: Fault): Promise<Outcome> {
  await tellSome(context, instance, {
    purchase: { ...instance.status!.purchase!, state: "Refused", at: isoTime(context.clock.now()) },
  });
  context.events.warning(instance, "NoCapacity", fault.message);
  return { againAfterMs: 1000 };
}

function refuseImpossible(
  fleet: Fleet,
  instance: Instance,
  placement: Placement,
  { events }: Context,
  onDemand: boolean,
): void {
  const trial = orderOf(instance, placement, { scriptUrl: "https://boot.invalid/", userData: "" }, onDemand);
  const concerns = [...specConcerns(instance.spec), ...fleet.driver.check(trial)];
  for (const { field, message, fatal } of concerns)
    if (!fatal) events.warning(instance, "Ignored", `${field}: ${message}`);
  if (instance.spec.ipxeScriptUrl) {
    events.warning(
      instance,
      "SecretsInUserData",
      "spec.ipxeScriptUrl: your script reads the configuration, join token included, from the provider's user data; it is cleared once the machine has joined",
    );
  }
  const fatal = concerns.filter((concern) => concern.fatal).map(({ field, message }) => `${field}: ${message}`);
  if (fatal.length > 0) {
    throw new Fault("Invalid", `Instance/${instance.metadata.name}`, fatal.join("; "), {
      remedy: "correct the specification",
    });
  }
}
