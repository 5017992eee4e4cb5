/** Does what the plan of a host says. */
import { asFault, Fault, type Http, isFault, isMac, type Mac, parseMac, type Tallies } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  DONE,
  keyOf,
  type Outcome,
  refOf,
  removeFinalizer,
  type StatusRecord,
} from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { parseBmcAddress } from "../bmc/address.ts";
import type { Bmc, BootChoice, BootDevice } from "../bmc/bmc.ts";
import { hardwareOf } from "../discovery/hardware.ts";
import { startsFromMedia } from "./agent-media.ts";
import type { BmcViews } from "./bmc-views.ts";
import { describeHost, releaseHardware } from "./describe.ts";
import { type Facts, isInAgent } from "./facts.ts";
import { writeFirmwareSettings } from "./firmware-settings.ts";
import type { HostMemory } from "./host-memory.ts";
import { dataTally, hostTally } from "./host-tallies.ts";
import { installerOf } from "./installer-of.ts";
import type { Machines } from "./machines.ts";
import { failed, told, underWay, waiting } from "./moves.ts";
import { orderOf } from "./order-of.ts";
import { HOST_FINALIZER } from "./plan.ts";
import { isWork, stateOf } from "./state.ts";
import type { HostEvent, HostStep, WriteStep } from "./step.ts";

type Device = NonNullable<Extract<HostStep, { do: "power" }>["from"]>;

export interface StepPorts {
  context: Context;
  record: StatusRecord<BareMetalHost>;
  machines: Machines;
  views: BmcViews;
  http: Http;
  memory: HostMemory;
  tallies: Tallies;
}

/** Does one step. `again`: there may be more to do at once. Rejects as the API does; what the machine refuses is on the object. */
export async function carryOut(step: HostStep, facts: Facts, ports: StepPorts): Promise<Outcome | "again"> {
  const { context, record, machines } = ports;
  const { machine } = facts;
  switch (step.do) {
    case "hold":
      await addFinalizer(context.client, BareMetalHost, record.object, HOST_FINALIZER);
      return DONE;
    case "letGo":
      tell(ports, step.event);
      // Else discovery would take what was seen before for a machine that waits to be declared.
      if (machine !== undefined && isOurs(facts) && (isOff(facts) || !isInAgent(facts))) machines.forget(machine.name);
      await releaseHardware(record.object, context);
      await removeFinalizer(context.client, BareMetalHost, record.object, HOST_FINALIZER);
      return DONE;
    case "unannotate":
      await unannotate(step.annotations, ports);
      return DONE;
    case "write":
      await write(step, ports);
      return "again";
    case "boot":
      machines.setBoot(machine!.name, step.from);
      return "again";
    case "describe": {
      const hardware = step.hardware ?? hardwareOf(machine!.inventory!);
      await describeHost(record.object, hardware, context);
      await record.write(told(facts, { hardware }));
      return DONE;
    }
    case "firmware":
      await readFirmware(facts, ports);
      return "again";
    case "wait":
      return wait(step, facts, ports);
    case "endInstall":
      machines.endInstall(machine!.name, step.id, step.result);
      return "again";
    case "power":
    case "eject":
    case "order":
    case "install":
      return affect(step, facts, ports);
  }
}

/** An effect on the machine. It is announced first: a decision on an old object ends there, in a `Conflict`. */
async function affect(
  step: Extract<HostStep, { do: "power" | "eject" | "order" | "install" }>,
  facts: Facts,
  ports: StepPorts,
): Promise<Outcome | "again"> {
  const { record, context } = ports;
  await record.write(step.announce);
  try {
    if (step.do === "install") await offer(step.id, facts, ports);
    else if (step.do === "order") await give(step, facts, ports);
    else if (step.do === "eject") await eject(facts, ports);
    else {
      await power(step, facts, ports);
      ports.memory.noteStart(keyOf(refOf(record.object)), step.announce.operation?.poweredAt);
      tell(ports, step.event);
    }
    if ("done" in step && step.done !== undefined) await write(step.done, ports);
    else if (isWork(stateOf(record.object))) await tellUnderWay(facts, ports);
    return "again";
  } catch (error) {
    if (context.signal.aborted || isFault(error, "NotLeader", "Undeclared")) throw error;
    const isBmc = step.do === "power" || step.do === "eject";
    await refused(asFault(error, record.object.metadata.name), isBmc, facts, ports);
    return "again";
  }
}

async function tellUnderWay(facts: Facts, { record }: StepPorts): Promise<void> {
  const fields = underWay({ ...facts, host: record.object });
  if (fields !== undefined) await record.write(fields);
}

/** Writes down that a machine, or what was to be sent to it, refused. */
async function refused(fault: Fault, isBmc: boolean, facts: Facts, ports: StepPorts): Promise<void> {
  const { record, tallies } = ports;
  const missing = dataTally(fault);
  if (missing !== undefined) tallies.add(missing);
  const now = { ...facts, host: record.object };
  await record.write(failed(now, fault.advice, isBmc ? { error: "power management error" } : {}));
  const reason = isBmc ? "PowerManagementError" : "OrderRefused";
  tell(ports, { type: "Warning", reason, message: fault.advice });
}

async function power(
  { action, from }: Extract<HostStep, { do: "power" }>,
  facts: Facts,
  ports: StepPorts,
): Promise<void> {
  const { host } = facts;
  const { client, signal } = ports.context;
  const bmc = await ports.views.toChange(host, client);
  if (from === "media") await bmc.insertMedia(host.spec.image!.url, { signal });
  if (from !== undefined) await bootFrom(bmc, from, facts, ports);
  else endAskedBoot(facts, ports);
  await bmc.setPower(action, { signal });
  const on_off = action === "on" || action === "restart" ? "on" : "off";
  ports.tallies.add(hostTally("metal3_operation_power_change_total", host, { on_off }));
}

/** With a value that shows that what boots is the machine behind the BMC, where the BMC takes a CD or an address that has it. */
async function bootFrom(bmc: Bmc, from: Device, facts: Facts, ports: StepPorts): Promise<void> {
  const { host, standing } = facts;
  const { signal } = ports.context;
  const device = deviceOf(host, from);
  const choice: BootChoice = { once: from === "network", ...modeOf(host) };
  endAskedBoot(facts, ports);
  try {
    if (from === "network" && (await bootWithValue(bmc, choice, facts, ports))) return;
  } catch (error) {
    if (!isFault(error, "Unsupported")) throw error;
    endAskedBoot(facts, ports);
    if (standing?.lacks === "bmc")
      tell(ports, { type: "Warning", reason: "NoBootValue", message: `${error.message}: ${standing.because}` });
  }
  await bmc.bootFrom(device, choice, { signal });
}

/** Boots from the network. False: there is nothing that such a machine could be given a value by. Rejects with `Unsupported` where the BMC takes none. */
async function bootWithValue(
  bmc: Bmc,
  choice: BootChoice,
  facts: Facts,
  { machines, context: { signal } }: StepPorts,
): Promise<boolean> {
  const { host, machine } = facts;
  const mac = cardOf(facts);
  if (mac === undefined) return false;
  const architecture = machine?.architecture ?? (host.spec.architecture === "aarch64" ? "aarch64" : "x86_64");
  if (startsFromMedia(host)) {
    const url = machines.askMedia(mac, architecture);
    if (url === undefined) return false;
    await bmc.insertMedia(url, { signal });
    await bmc.bootFrom("virtual-media", choice, { signal });
    return true;
  }
  const device = deviceOf(host, "network");
  const httpBootUri = device === "uefi-http" ? machines.askBoot(mac, architecture) : undefined;
  if (httpBootUri === undefined) return false;
  await bmc.bootFrom(device, { ...choice, httpBootUri }, { signal });
  return true;
}

function endAskedBoot(facts: Facts, { machines }: StepPorts): void {
  const mac = cardOf(facts);
  if (mac !== undefined) machines.endAskedBoot(mac);
}

/** The card that the machine boots from. */
function cardOf({ host, machine }: Facts): Mac | undefined {
  const { bootMACAddress } = host.spec;
  return bootMACAddress !== undefined && isMac(bootMACAddress) ? parseMac(bootMACAddress) : machine?.mac;
}

/** A BMC that knows no virtual media has none in. */
async function eject({ host }: Facts, { views, context: { client, signal } }: StepPorts): Promise<void> {
  const bmc = await views.toChange(host, client);
  await bmc.ejectMedia({ signal }).catch((error: unknown) => {
    if (!isFault(error, "Unsupported")) throw error;
  });
  await bmc.bootFrom("default", { once: false }, { signal });
}

function deviceOf({ spec }: BareMetalHost, from: Device): BootDevice {
  if (from === "disk") return "disk";
  if (from === "media") return "virtual-media";
  return parseBmcAddress(spec.bmc!.address).bootsBy === "uefi-http" ? "uefi-http" : "pxe";
}

function modeOf({ spec: { bootMode } }: BareMetalHost): { mode?: "UEFI" | "legacy" } {
  return bootMode === undefined ? {} : { mode: bootMode === "legacy" ? "legacy" : "UEFI" };
}

async function give(
  { name, id }: Extract<HostStep, { do: "order" }>,
  { host, machine }: Facts,
  { machines, memory, http, context: { client } }: StepPorts,
): Promise<void> {
  if (machine === undefined) throw new Fault("NotFound", host.metadata.name, "no machine was seen that it could be");
  await machines.order(machine.name, await orderOf(name, host, machine.inventory, { client, http }), id);
  memory.noteOrder(keyOf(refOf(host)), id);
}

async function offer(id: string, { host, machine }: Facts, { machines, memory, context }: StepPorts): Promise<void> {
  if (machine === undefined) throw new Fault("NotFound", host.metadata.name, "no machine was seen that it could be");
  machines.install(machine.name, id, await installerOf(host, machine, context.client));
  memory.noteInstall(keyOf(refOf(host)), id);
}

/** Settings that can't be read become an event; the host goes on without them. */
async function readFirmware({ host }: Facts, ports: StepPorts): Promise<void> {
  const { views, context, record, memory } = ports;
  const { client, signal } = context;
  memory.noteFirmware(keyOf(refOf(host)), host.status?.operation?.startedAt);
  try {
    const settings = await views.read(host, client, (bmc) => bmc.firmwareSettings({ signal }));
    await writeFirmwareSettings(record.object, settings, context);
  } catch (error) {
    if (signal.aborted || isFault(error, "NotLeader", "Undeclared")) throw error;
    const { message } = asFault(error, host.metadata.name);
    tell(ports, { type: "Warning", reason: "FirmwareSettingsNotRead", message });
  }
}

async function unannotate(annotations: readonly string[], { context, record }: StepPorts): Promise<void> {
  const { resourceVersion } = record.object.metadata;
  const without = Object.fromEntries(annotations.map((name) => [name, null]));
  const body = { metadata: { resourceVersion, annotations: without } };
  await context.client.patch(BareMetalHost, refOf(record.object), { type: "merge", body });
}

async function wait(
  { forWhat, recheckMs, deadline }: Extract<HostStep, { do: "wait" }>,
  facts: Facts,
  { record, context: { clean } }: StepPorts,
): Promise<Outcome> {
  const written = clean(forWhat);
  if (record.object.status?.waitingFor !== written) await record.write(waiting(facts, written, deadline));
  return recheckMs === undefined ? DONE : { againAfterMs: recheckMs };
}

/** Whether the machine is this host's alone. */
function isOurs({ isShared, standing }: Facts): boolean {
  return !isShared && standing?.trust !== "discovered";
}

function isOff({ bmc }: Facts): boolean {
  return bmc?.is === "answers" && bmc.power === "off";
}

async function write({ fields, event }: WriteStep, ports: StepPorts): Promise<void> {
  await ports.record.write(fields);
  if (event !== undefined) tell(ports, event);
}

/** Reasons of events that are counted. */
const TALLIED: Readonly<Record<string, string>> = {
  NotWiped: "metal3_delete_without_deprovisioning_total",
  NotPoweredOff: "metal3_delete_without_powering_off_total",
};

function tell({ context: { events }, record, tallies }: StepPorts, { type, reason, message }: HostEvent): void {
  const name = TALLIED[reason];
  if (name !== undefined) tallies.add({ name });
  if (type === "Normal") events.normal(record.object, reason, message);
  else events.warning(record.object, reason, message);
}
